import { domainToASCII } from 'node:url';

/** Letters of other alphabets look like these, and this service verifies no address of an account. */
const NAME = /^[!-?A-~]{1,64}$/;
const DOMAIN = /^[^\s@\p{C}]{1,255}$/u;

/** The address with its domain in ASCII, so that none looks like another one; null for what is no address. Keeps
 * authentication.accounts.plain-address. */
export function plainAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const [name, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const ascii = DOMAIN.test(domain) ? domainToASCII(domain) : '';
  return NAME.test(name) && ascii !== '' ? `${name}@${/[^\0-\x7f]/.test(domain) ? ascii : domain}` : null;
}
