/** Bytes of UTF-8 that are kept of an answer's body. */
export const SNIPPET_BYTES_MAX = 1_024;
/** What PostgreSQL refuses in text, and what would steer a terminal. */
// eslint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** The beginning of a body as valid text, at most 1 KiB; null for an empty one. What is no text shows as U+FFFD. */
export function snippetOf(body: Buffer): string | null {
  // A character that is cut off at the end is left out, so that the limit puts no U+FFFD there.
  const text = new TextDecoder().decode(body.subarray(0, SNIPPET_BYTES_MAX), { stream: true });
  const clean = text.replaceAll(UNPRINTABLE, '\ufffd');
  if (Buffer.byteLength(clean) <= SNIPPET_BYTES_MAX) return clean === '' ? null : clean;
  // U+FFFD takes three bytes where the body had one.
  return new TextDecoder().decode(Buffer.from(clean).subarray(0, SNIPPET_BYTES_MAX), { stream: true });
}
