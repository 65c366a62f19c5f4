import { Fault, memberApi, type ErrorCode, type Principal, type Role } from '@wts/contracts';
import type { CommitUnitSender, ServiceCallOptions } from '@wts/service-kit/call';
import type { Cell, Cells } from '../cells/cells.ts';
import { sessionPrincipal } from '../domain/session-principal.ts';
import { sha256 } from '../domain/sha256.ts';
import type { Notices } from '../mail/notices.ts';
import type { Directory } from '../directory/directory.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { Session, Sessions } from '../store/sessions.ts';
import type { SignInAttemptStore } from '../store/sign-in-attempts.ts';
import type { PasswordHashes } from '../accounts/password-hashes.ts';
import { beginSession } from './begin-session.ts';
import { checkRegistration, personOfNew, registerAccount } from './register-account.ts';
import type { Invitation, Presented, ProvedLink } from './mail-invitation.ts';
import { createProved, type NewPerson } from './register-by-mail.ts';
import { signInPlacesOf } from './sign-in-by-password.ts';

interface JoinContext {
  readonly cells: Cells;
  readonly accounts: Pick<AccountStore, 'find'>;
  readonly directory: Pick<Directory, 'workspacesOf' | 'cellOf'>;
  readonly notices: Pick<Notices, 'send'>;
  readonly oauth: { readonly issuer: string };
}

interface RegisterContext extends JoinContext {
  readonly accounts: AccountStore;
  readonly attempts: SignInAttemptStore;
  readonly passwords: PasswordHashes;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly record: SecurityRecord;
  readonly commitUnit: CommitUnitSender;
  readonly personOf: (account: Account) => Promise<string>;
}

export interface Joined {
  readonly workspaceName: string;
  readonly role: Role;
}

/** The invitation of a code, as the workspace service shows it to anyone who has the code. It counts the wrong codes of a person. */
export async function readInvitation(
  { cells, self }: Pick<JoinContext, 'cells'> & { readonly self: Principal },
  session: Session | null,
  code: string,
): Promise<Invitation> {
  const call = { principal: self, body: { code: code.slice(0, 200) }, idempotent: true };
  const { workspace } = await cellOfCode(cells, call);
  const principal = session === null ? self : sessionPrincipal(session);
  return (await workspace.call(memberApi.internalReadInvitation, { ...call, principal })).invitation;
}

/** The cell that has the invitation; else the first, which counts the code as wrong. Asked for no one, so that the others count nothing. */
async function cellOfCode(
  cells: Cells,
  call: ServiceCallOptions<typeof memberApi.internalReadInvitation>,
): Promise<Cell> {
  if (cells.isOne) return cells.home;
  const known = await Promise.allSettled(
    cells.all.map(({ workspace }) => workspace.call(memberApi.internalReadInvitation, call)),
  );
  const codeOf = (answer: PromiseSettledResult<unknown>): ErrorCode | null =>
    answer.status === 'fulfilled' ? null : answer.reason instanceof Fault ? answer.reason.code : 'internal';
  const codes = known.map(codeOf);
  const at = codes.findIndex((code) => code === null || code === 'invitation_expired');
  if (at < 0 && codes.some((code) => code !== 'not_found')) throw new Fault('unavailable');
  return cells.all[at] ?? cells.home;
}

/**
 * Creates an account, signs its person in, and joins. After a failure between the steps the person signs in with the account and accepts
 * again: each step happens once.
 */
export async function registerAndJoin(
  context: RegisterContext,
  person: NewPerson,
  { link, ...presented }: Presented & { readonly link: ProvedLink | null },
): Promise<{ readonly wrong: string } | { readonly joined: Joined | null; readonly secret: string }> {
  const { sessions, record } = context;
  const { visitor } = person;
  const made = await makeAccount(context, person, { invitation: presented.invitation, link });
  if ('wrong' in made) return made;
  const { account, userId } = made;
  const secret = await beginSession({ record }, { userId, account, way: 'with a password', visitor });
  const session = secret === null ? null : await sessions.find(sha256(secret));
  if (secret === null || session === null) throw new Fault('unavailable');
  return { joined: await joinAs(context, session, presented), secret };
}

/** An account with a mailed link has proved its address; without one nothing proves it. */
async function makeAccount(
  context: RegisterContext,
  person: NewPerson,
  { invitation, link }: Pick<Presented, 'invitation'> & { readonly link: ProvedLink | null },
): Promise<{ readonly wrong: string } | { readonly account: Account; readonly userId: string }> {
  const { passwords, attempts, record } = context;
  const registration = { ...person, email: invitation.email ?? person.email };
  if (link !== null) {
    const account = await checkRegistration({ passwords }, { ...registration, email: link.address });
    if (typeof account === 'string') return { wrong: account };
    const proved = {
      account: { ...account, emailVerified: true },
      linkHash: link.hash,
      kind: 'invitation',
      guest: person,
    } as const;
    const created = await createProved(context, proved);
    if (created === 'ended') return { wrong: 'The link of this invitation was used already. Ask for a new one.' };
    return created === 'taken'
      ? { wrong: 'There is an account with this email. Sign in to accept the invitation.' }
      : created;
  }
  const account = await registerAccount({ record, passwords }, registration);
  if (typeof account === 'string') return { wrong: account };
  const userId = await personOfNew(context, account);
  await attempts.addSignInPlaces(account.id, signInPlacesOf(person));
  return { account, userId };
}

/**
 * The inviter knows the code too, so it proves the address of the person for this invitation only. Null for a person without the second
 * factor that the workspace requires: they add one, and accept again.
 */
export async function joinAs(
  { cells, accounts, directory, notices, oauth }: JoinContext,
  session: Session,
  { code, invitation }: Presented,
): Promise<Joined | null> {
  const account = session.accountId === null ? null : await accounts.find(session.accountId);
  try {
    const { workspace } = (await directory.cellOf(invitation.workspaceId)) ?? cells.home;
    const { role } = await workspace.call(memberApi.internalJoinWorkspace, {
      principal: sessionPrincipal(session),
      body: { code, address: account?.email ?? null },
      idempotent: true,
    });
    const { workspaceName } = invitation;
    const isFirst = (await directory.workspacesOf(session.userId)).found.length <= 1;
    const data = { url: `${oauth.issuer}/account`, workspaceName, role };
    if (isFirst) await notices.send(session.userId, { kind: 'welcome', data });
    return { workspaceName, role };
  } catch (failure) {
    if (failure instanceof Fault && failure.code === 'second_factor_required') return null;
    throw failure;
  }
}
