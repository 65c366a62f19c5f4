/** The longest name in the DNS, with a port. */
const AUTHORITY_CHARS_MAX = 253 + ':65535'.length;
const LABEL_CHARS_MAX = 63;

const START = /^https?:\/\/([^\s/?#\\\p{Cc}\p{Cs}]+)/iu;
const FOREIGN = /[\s\\\p{Cc}\p{Cs}]/u;

/**
 * An absolute http or https URL without credentials. The text is checked before URL.parse, which drops blanks and escapes control
 * characters, because the stored text must be the checked one. A host longer than DNS allows is not parsed, because the time to
 * encode a label grows with the square of its length.
 */
export function isHttpUrl(text: string): boolean {
  const authority = START.exec(text)?.[1];
  if (authority === undefined || authority.length > AUTHORITY_CHARS_MAX || FOREIGN.test(text)) return false;
  if (authority.split(/[.:]/).some(({ length }) => length > LABEL_CHARS_MAX)) return false;
  const url = URL.parse(text);
  return url?.username === '' && url.password === '';
}
