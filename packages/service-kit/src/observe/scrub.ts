import { UUID_PATTERN } from '@wts/contracts';

/**
 * Shapes of secrets, wherever they stand in a line of log:
 * 1. `?token=...` and its like in an address;
 * 2. `Bearer ...` and `Basic ...`;
 * 3. JSON Web Tokens (every header starts with `{"`, which is `eyJ` in base64url);
 * 4. API keys and webhook secrets: a prefix, an underscore, a long run without blanks;
 * 5. the password in a connection address.
 */
const shapes =
  /([?&](?:access_token|refresh_token|token|code|code_verifier|client_secret|secret|key)=)[^&\s"\\#]+|\b(bearer|basic)(?: |%20)+[A-Za-z0-9._~+/-]{6,}=*|\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*|\b([A-Za-z][A-Za-z0-9]*_)[A-Za-z0-9+/]{24,}=*|(:\/\/[^\s/:@"\\]*:)[^\s/@"\\]+(?=@)/gi;

const PATH_CHARS_MAX = 200;
const opaque = /[A-Za-z0-9_-]{24,}/g;
const uuid = new RegExp(UUID_PATTERN);

/**
 * A path that leads nowhere, for the log. Some have a code in them that was meant for another address, and codes have no
 * shape of their own: long words that are no UUID are left out.
 */
export function unmatchedPath(path: string): string {
  return path.replace(opaque, (word) => (uuid.test(word) ? word : '[redacted]')).slice(0, PATH_CHARS_MAX);
}

/** Replaces what looks like a secret. The last net: what is logged should not hold one in the first place. */
export function scrub(line: string): string {
  return line.replace(
    shapes,
    (_all, ...[parameter, scheme, prefix, address]: (string | undefined)[]) =>
      `${parameter ?? (scheme === undefined ? undefined : `${scheme} `) ?? prefix ?? address ?? ''}[redacted]`,
  );
}
