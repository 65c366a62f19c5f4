import { isHttpUrl } from '@wts/contracts';
import { AUTH_LIMITS } from '../limits.ts';

/** Printable ASCII without a backslash, which parsers read in different ways, and without a fragment. */
const PLAIN = /^[\x21\x22\x24-\x5b\x5d-\x7e]+$/;
/** A private-use scheme is the reversed name of a domain (RFC 8252 section 7.1), so `javascript:` and the like are none. */
const PRIVATE_USE = /^[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:\S/i;
/** Editors that are agents' clients too, and have always used these schemes, which name no domain. */
const KNOWN_SCHEME = /^(?:cursor|vscode|vscode-insiders|windsurf):\/\/\S/i;
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::[0-9]{1,5})?(?=[/?]|$)/;

/** What is wrong with a redirect URI of a registration, as a sentence; null for nothing. */
export function refusalOfRedirectUri(uri: unknown): string | null {
  if (typeof uri !== 'string' || uri.length > AUTH_LIMITS.redirectUriMax || !PLAIN.test(uri))
    return `A redirect URI is an absolute URI in ASCII of at most ${AUTH_LIMITS.redirectUriMax} characters, without a fragment.`;
  if (/^https:/i.test(uri)) return isHttpUrl(uri) ? null : 'A redirect URI must be a valid URL without a user name.';
  if (/^http:/i.test(uri)) {
    const isLoopback = LOOPBACK.test(uri) && isHttpUrl(uri);
    return isLoopback
      ? null
      : 'A redirect URI with http must be on 127.0.0.1, [::1] or localhost; use https for others.';
  }
  return (PRIVATE_USE.test(uri) || KNOWN_SCHEME.test(uri)) && URL.canParse(uri)
    ? null
    : 'The scheme of a redirect URI is https, or a reversed domain name such as com.example.app.';
}

/**
 * Whether a redirect URI is one of the registered: the same text. Only the port of a loopback address may differ, because native
 * clients listen on any free port (RFC 8252 section 7.3).
 */
export function matchesRedirectUri(registered: readonly string[], asked: string): boolean {
  return registered.some((uri) => uri === asked || isSameLoopback(uri, asked));
}

function isSameLoopback(registered: string, asked: string): boolean {
  const [one, other] = [registered, asked].map((uri) => LOOPBACK.exec(uri));
  if (!one || !other || one[1] !== other[1] || !isHttpUrl(asked)) return false;
  return registered.slice(one[0].length) === asked.slice(other[0].length);
}
