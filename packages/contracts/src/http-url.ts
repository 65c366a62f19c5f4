/**
 * An absolute http or https URL without credentials, as one writes it in an address bar. Looked at as text first: URL.parse
 * would drop blanks and turn control characters into escapes, and what is kept must be what was checked.
 */
export function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s/?#\\\p{Cc}\p{Cs}]+[^\s\\\p{Cc}\p{Cs}]*$/iu.test(text)) return false;
  const url = URL.parse(text);
  return url?.username === '' && url.password === '';
}
