import { randomUUID } from 'node:crypto';
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
const ADDRESS = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,255}$/u;

/**
 * Creates an account, or returns what is wrong as a sentence. The address is unique in its comparable form. It is not verified,
 * because nothing proves that it is the person's.
 */
export async function registerAccount(
  { accounts, passwords }: RegistrationContext,
  registration: Registration,
): Promise<Account | string> {
  const { name, password } = registration;
  const email = registration.email.trim();
  if (name.trim() === '') return 'Enter your name.';
  if (!ADDRESS.test(email)) return 'Enter your email, such as ada@example.com.';
  const fault = faultOfPassword(password, email);
  if (fault !== null) return fault;
  const passwordHash = await passwords.hash(password, registration);
  const account: Account = { id: randomUUID(), email, name: name.trim(), emailVerified: false, passwordHash };
  const isNew = await accounts.insert({ ...account, comparableEmail: comparableAddress(email) });
  return isNew ? account : TAKEN;
}
