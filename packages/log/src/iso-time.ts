const MINUTE_MS = 60_000;
/** The part after the minute. */
const SECONDS = '00.000Z';

/** The last minute and its text. */
let cached = { minute: NaN, text: '' };

/**
 * The same text as `toISOString`, which would take nearly as long as all other work for an entry. Entries in a row are often of
 * one minute, whose text is cached.
 */
export function isoTime(ms: number): string {
  const minute = Math.floor(ms / MINUTE_MS);
  if (minute !== cached.minute)
    cached = { minute, text: new Date(minute * MINUTE_MS).toISOString().slice(0, -SECONDS.length) };
  const digits = String(100_000 + ms - minute * MINUTE_MS);
  return `${cached.text}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
}
