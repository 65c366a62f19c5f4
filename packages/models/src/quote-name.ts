/** Published sync clients repeat a request for ever when the text of its error contains one of these words. */
const RETRIED_WORDS = /network|fetch|timeout|timed out|aborted|econnrefused/i;

/** A name that came from outside, in quotes for an error text; null unless it is short, plain and without a retried word. */
export function quoteName(name: string): string | null {
  return /^[A-Za-z]\w{0,63}$/.test(name) && !RETRIED_WORDS.test(name) ? `"${name}"` : null;
}
