/** Published sync clients repeat a request without end when its error text contains one of these words. */
const RETRIED_WORDS = /network|fetch|timeout|timed out|aborted|econnrefused/i;

/** A name from a request, quoted for an error text; null unless it is short, plain and without one of these words. */
export function quoteName(name: string): string | null {
  return /^[A-Za-z]\w{0,63}$/.test(name) && !RETRIED_WORDS.test(name) ? `"${name}"` : null;
}
