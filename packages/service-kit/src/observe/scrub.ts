import { isUuid } from '@wts/contracts';

/**
 * Shapes of secrets anywhere in a line of the log:
 * 1. `?token=...` and similar parameters of a URL;
 * 2. `Bearer ...` and `Basic ...`;
 * 3. JSON Web Tokens (every header starts with `{"`, which is `eyJ` in base64url);
 * 4. API keys and webhook secrets: a prefix, an underscore, a long text without blanks;
 * 5. the password in a connection URL.
 */
const shapes =
  /([?&](?:access_token|refresh_token|token|code|code_verifier|client_secret|secret|key)=)[^&\s"\\#]+|\b(bearer|basic)(?: |%20)+[A-Za-z0-9._~+/-]{6,}=*|\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*|\b([A-Za-z][A-Za-z0-9]*_)[A-Za-z0-9+/]{24,}=*|(:\/\/[^\s/:@"\\]*:)[^\s/@"\\]+(?=@)/gi;

const PATH_CHARS_MAX = 200;
const opaque = /[A-Za-z0-9_-]{24,}/g;

/**
 * A path without a route, for the log. It may contain a code meant for another path, and codes have no shape of their own, so
 * long words that are no UUID are redacted.
 */
export function unmatchedPath(path: string): string {
  return path.replace(opaque, (word) => (isUuid(word) ? word : '[redacted]')).slice(0, PATH_CHARS_MAX);
}

/** Replaces what looks like a secret, in case a secret was logged by mistake. */
export function scrub(line: string): string {
  return line.replace(
    shapes,
    (_all, ...[parameter, scheme, prefix, address]: (string | undefined)[]) =>
      `${parameter ?? (scheme === undefined ? undefined : `${scheme} `) ?? prefix ?? address ?? ''}[redacted]`,
  );
}
