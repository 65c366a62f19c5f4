const MINUTE_MS = 60_000;
/** What stands behind the minute. */
const SECONDS = '00.000Z';

/** The minute written last. */
let known = { minute: NaN, text: '' };

/**
 * As `toISOString`. That takes nearly as long as all the rest that is done for an entry; entries that follow each other are
 * often of one minute, which is then written once.
 */
export function isoTime(ms: number): string {
  const minute = Math.floor(ms / MINUTE_MS);
  if (minute !== known.minute) {
    known = { minute, text: new Date(minute * MINUTE_MS).toISOString().slice(0, -SECONDS.length) };
  }
  const digits = String(100_000 + ms - minute * MINUTE_MS);
  return `${known.text}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
}
