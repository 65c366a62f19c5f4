/** Longer than any step of the schedule. */
const MOST_MS = 24 * 3_600_000;
/** RFC 9110, 5.6.7: the one form of a date that senders may write. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The milliseconds in a `Retry-After`, at most a day; null when it is absent, in the past or not understandable. */
export function parseRetryAfter(value: string | readonly string[] | undefined, nowMs: number): number | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const wantedMs = /^\d{1,20}$/.test(text) ? Number(text) * 1_000 : HTTP_DATE.test(text) ? Date.parse(text) - nowMs : 0;
  return wantedMs > 0 ? Math.min(wantedMs, MOST_MS) : null;
}
