import { randomUUID } from 'node:crypto';
import { comparableAddress } from '@wts/access';
import { Fault } from '@wts/contracts';
import { plainAddress } from '../domain/plain-address.ts';
import { faultOfPassword } from '../domain/password-rules.ts';
import type { PeopleContext } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import type { Act } from '../record/security-record.ts';
import { ACCOUNT_ISSUER, type Account } from '../store/accounts.ts';
import { identityStore } from '../store/identities.ts';
import type { Guest } from './sign-in-by-password.ts';

export interface NewPerson extends Guest {
  readonly name: string;
  /** That of an invitation to an address; else as the person entered it. */
  readonly email: string;
  readonly password: string;
}

/** Addresses are not verified, so the account may be of another person (0021). */
const TAKEN =
  'There is an account with this email. Sign in with it to accept the invitation. If it is not yours, tell the operator of this service, or ask for an invitation without an address.';

/** The account that a person asks for, with the hash of its password, or what is wrong as a sentence. Nothing is stored. */
export async function checkRegistration(
  { passwords }: Pick<PeopleContext, 'passwords'>,
  person: NewPerson,
): Promise<Account | string> {
  const { name, password } = person;
  const email = plainAddress(person.email.trim());
  if (name.trim() === '') return 'Enter your name.';
  if (email === null) return 'Enter your email, such as ada@example.com.';
  const fault = faultOfPassword(password, email);
  if (fault !== null) return fault;
  const passwordHash = await passwords.hash(password, person);
  return { id: randomUUID(), email, name: name.trim(), emailVerified: false, passwordHash };
}

/**
 * Creates an account, or returns what is wrong as a sentence. The address is unique in its comparable form. It is not verified,
 * because nothing proves that it is the person's.
 */
export async function registerAccount(
  context: Pick<PeopleContext, 'record' | 'passwords'>,
  person: NewPerson,
): Promise<Account | string> {
  const account = await checkRegistration(context, person);
  if (typeof account === 'string') return account;
  const userId = await context.record.act((act) => createAccount(act, account, person.visitor));
  return userId === null ? TAKEN : account;
}

/**
 * The person of an account that was just made. Without sync the account has none yet, and the refusal says so: the page of a fault
 * otherwise says that nothing was changed, and a link that made the account leads nowhere any more.
 */
export async function personOfNew({ personOf }: Pick<PeopleContext, 'personOf'>, account: Account): Promise<string> {
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
