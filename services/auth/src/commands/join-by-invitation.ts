import { Fault, memberApi, type Principal, type ReplyOf, type Role } from '@wts/contracts';
import type { CallTrace, ServiceClient } from '@wts/service-kit/call';
import { sessionPrincipal } from '../domain/session-principal.ts';
import { sha256 } from '../domain/sha256.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { Session, SessionStore } from '../store/sessions.ts';
import type { SignInAttemptStore } from '../store/sign-in-attempts.ts';
import type { PasswordHashes } from '../accounts/password-hashes.ts';
import { beginSession } from './begin-session.ts';
import { registerAccount } from './register-account.ts';
import { placesOf, type Guest } from './sign-in-by-password.ts';

export type Invitation = ReplyOf<typeof memberApi.internalReadInvitation>['invitation'];

interface JoinContext {
  readonly workspace: ServiceClient;
  readonly accounts: Pick<AccountStore, 'find'>;
}

interface RegisterContext extends JoinContext {
  readonly accounts: AccountStore;
  readonly attempts: SignInAttemptStore;
  readonly passwords: PasswordHashes;
  readonly sessions: Pick<SessionStore, 'find'>;
  readonly record: SecurityRecord;
  readonly personOf: (account: Account, trace: CallTrace) => Promise<string>;
}

export interface Presented {
  readonly code: string;
  readonly invitation: Invitation;
}

export interface Joined {
  readonly workspaceName: string;
  readonly role: Role;
}

interface NewPerson extends Guest {
  readonly name: string;
  /** As the person entered it; that of an invitation to an address counts instead. */
  readonly email: string;
  readonly password: string;
}

/** The invitation of a code, as the workspace service shows it to anyone who has the code. It counts the wrong codes of a person. */
export async function readInvitation(
  { workspace, self }: Pick<JoinContext, 'workspace'> & { readonly self: Principal },
  session: Session | null,
  code: string,
  trace: CallTrace,
): Promise<Invitation> {
  const principal = session === null ? self : sessionPrincipal(session);
  const call = { principal, body: { code: code.slice(0, 200) }, ...trace, idempotent: true };
  return (await workspace.call(memberApi.internalReadInvitation, call)).invitation;
}

/**
 * Creates an account, signs its person in, and joins. After a failure between the steps the person signs in with the account and accepts
 * again: each step happens once.
 */
export async function registerAndJoin(
  context: RegisterContext,
  person: NewPerson,
  presented: Presented,
  trace: CallTrace,
): Promise<{ readonly wrong: string } | { readonly joined: Joined | null; readonly secret: string }> {
  const { accounts, passwords, attempts, sessions, record, personOf } = context;
  const email = presented.invitation.email ?? person.email;
  const account = await registerAccount({ accounts, passwords }, { ...person, email });
  if (typeof account === 'string') return { wrong: account };
  const userId = await personOf(account, trace);
  await attempts.addPlaces(account.id, placesOf(person));
  const { visitor } = person;
  await record.add({ kind: 'registered', userId, accountId: account.id, visitor, details: {} });
  const secret = await beginSession({ record }, { userId, account, way: 'with a password', visitor });
  const session = secret === null ? null : await sessions.find(sha256(secret));
  if (secret === null || session === null) throw new Fault('unavailable');
  return { joined: await joinAs(context, session, presented, trace), secret };
}

/**
 * The inviter knows the code too, so it proves the address of the person for this invitation only. Null for a person without the second
 * factor that the workspace requires: they add one, and accept again.
 */
export async function joinAs(
  { workspace, accounts }: JoinContext,
  session: Session,
  { code, invitation }: Presented,
  trace: CallTrace,
): Promise<Joined | null> {
  const account = session.accountId === null ? null : await accounts.find(session.accountId);
  try {
    const { role } = await workspace.call(memberApi.internalJoinWorkspace, {
      principal: sessionPrincipal(session),
      body: { code, address: account?.email ?? null },
      ...trace,
      idempotent: true,
    });
    return { workspaceName: invitation.workspaceName, role };
  } catch (failure) {
    if (failure instanceof Fault && failure.code === 'second_factor_required') return null;
    throw failure;
  }
}
