import { randomUUID } from 'node:crypto';
import { comparableAddress } from '@wts/access';
import { Fault } from '@wts/contracts';
import { plainAddress } from '../domain/plain-address.ts';
import { faultOfPassword } from '../domain/password-rules.ts';
import type { PasswordHashes } from '../accounts/password-hashes.ts';
import type { Visitor } from '../domain/security-event.ts';
import type { Act, SecurityRecord } from '../record/security-record.ts';
import { ACCOUNT_ISSUER, type Account } from '../store/accounts.ts';
import { identityStore } from '../store/identities.ts';

interface RegistrationContext {
  readonly record: SecurityRecord;
  readonly passwords: PasswordHashes;
}

export interface Registration {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly network: string;
  readonly visitor: Visitor;
  readonly signal: AbortSignal;
}

/** Addresses are not verified, so the account may be of another person (0021). */
const TAKEN =
  'There is an account with this email. Sign in with it to accept the invitation. If it is not yours, tell the operator of this service, or ask for an invitation without an address.';

/** The account that a person asks for, with the hash of its password, or what is wrong as a sentence. Nothing is stored. */
export async function checkRegistration(
  { passwords }: Pick<RegistrationContext, 'passwords'>,
  registration: Registration,
): Promise<Account | string> {
  const { name, password } = registration;
  const email = plainAddress(registration.email.trim());
  if (name.trim() === '') return 'Enter your name.';
  if (email === null) return 'Enter your email, such as ada@example.com.';
  const fault = faultOfPassword(password, email);
  if (fault !== null) return fault;
  const passwordHash = await passwords.hash(password, registration);
  return { id: randomUUID(), email, name: name.trim(), emailVerified: false, passwordHash };
}

/**
 * Creates an account, or returns what is wrong as a sentence. The address is unique in its comparable form. It is not verified,
 * because nothing proves that it is the person's.
 */
export async function registerAccount(
  { record, passwords }: RegistrationContext,
  registration: Registration,
): Promise<Account | string> {
  const account = await checkRegistration({ passwords }, registration);
  if (typeof account === 'string') return account;
  const { visitor } = registration;
  const userId = await record.act((act) => createAccount(act, account, visitor));
  return userId === null ? TAKEN : account;
}

/**
 * The person of an account that was just made. Without sync the account has none yet, and the refusal says so: the page of a fault
 * otherwise says that nothing was changed, and a link that made the account leads nowhere any more.
 */
export async function personOfNew(
  { personOf }: { readonly personOf: (account: Account) => Promise<string> },
  account: Account,
): Promise<string> {
  try {
    return await personOf(account);
  } catch (cause) {
    if (!(cause instanceof Fault && cause.code === 'unavailable')) throw cause;
    const message = 'Your account is created. Sign in with it in a moment, and accept the invitation then.';
    throw new Fault('unavailable', { message, cause });
  }
}

/**
 * Creates an account in an act, with the id of its person, whom sync makes afterward, and the event of it. Null when the address has an
 * account.
 */
export async function createAccount(
  { accounts, transaction, record }: Act,
  account: Account,
  visitor: Visitor,
): Promise<string | null> {
  const { id: accountId, email, emailVerified } = account;
  if (!(await accounts.insert({ ...account, comparableEmail: comparableAddress(email) }))) return null;
  const identity = { issuer: ACCOUNT_ISSUER, subject: accountId };
  const userId = await identityStore(transaction).claim(identity, randomUUID(), { email, emailVerified });
  await record({ kind: 'registered', userId, accountId, visitor, details: {} });
  return userId;
}
