import { randomUUID } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { comparableAddress } from '@wts/access';
import { faultOfPassword } from '../domain/password-rules.ts';
import type { PasswordHashes } from '../accounts/password-hashes.ts';
import type { Account, AccountStore } from '../store/accounts.ts';

interface RegistrationContext {
  readonly accounts: AccountStore;
  readonly passwords: PasswordHashes;
}

export interface Registration {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly network: string;
  readonly signal: AbortSignal;
}

/** Addresses are not verified, so the account may be of another person (0021). */
const TAKEN =
  'There is an account with this email. Sign in with it to accept the invitation. If it is not yours, tell the operator of this service, or ask for an invitation without an address.';
/** Letters of other alphabets look like these, and this service verifies no address of an account. */
const NAME = /^[!-?A-~]{1,64}$/;
const DOMAIN = /^[^\s@\p{C}]{1,255}$/u;

/** The address with its domain in ASCII, so that none looks like another one; null for what is no address. */
export function plainAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const [name, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const ascii = DOMAIN.test(domain) ? domainToASCII(domain) : '';
  return NAME.test(name) && ascii !== '' ? `${name}@${/[^\0-\x7f]/.test(domain) ? ascii : domain}` : null;
}

/**
 * Creates an account, or returns what is wrong as a sentence. The address is unique in its comparable form. It is not verified,
 * because nothing proves that it is the person's. Keeps authentication.accounts.plain-address.
 */
export async function registerAccount(
  { accounts, passwords }: RegistrationContext,
  registration: Registration,
): Promise<Account | string> {
  const { name, password } = registration;
  const email = plainAddress(registration.email.trim());
  if (name.trim() === '') return 'Enter your name.';
  if (email === null) return 'Enter your email, such as ada@example.com.';
  const fault = faultOfPassword(password, email);
  if (fault !== null) return fault;
  const passwordHash = await passwords.hash(password, registration);
  const account: Account = { id: randomUUID(), email, name: name.trim(), emailVerified: false, passwordHash };
  const isNew = await accounts.insert({ ...account, comparableEmail: comparableAddress(email) });
  return isNew ? account : TAKEN;
}
