import { servicePrincipal } from '@wts/access';
import { Fault, memberApi, type ErrorCode, type Role } from '@wts/contracts';
import type { ServiceCallOptions } from '@wts/service-kit/call';
import type { Cell, Cells } from '../cells/cells.ts';
import type { PeopleContext } from '../context.ts';
import { sessionPrincipal } from '../domain/session-principal.ts';
import { sha256 } from '../domain/sha256.ts';
import type { Account } from '../store/accounts.ts';
import type { Session } from '../store/sessions.ts';
import { beginSession } from './begin-session.ts';
import { checkRegistration, personOfNew, registerAccount, type NewPerson } from './register-account.ts';
import type { Invitation, Presented, ProvedLink } from './mail-invitation.ts';
import { createProved } from './register-by-mail.ts';
import { signInPlacesOf } from './sign-in-by-password.ts';

type JoinContext = Pick<PeopleContext, 'cells' | 'accounts' | 'directory' | 'notices' | 'issuer'>;
type RegisterContext = JoinContext &
  Pick<PeopleContext, 'attempts' | 'passwords' | 'sessions' | 'record' | 'commitUnit' | 'personOf'>;

export interface Joined {
  readonly workspaceName: string;
  readonly role: Role;
}

/** The invitation of a code, as the workspace service shows it to anyone who has the code. It counts the wrong codes of a person. */
export async function readInvitation(
  { cells }: Pick<JoinContext, 'cells'>,
  session: Session | null,
  code: string,
): Promise<Invitation> {
  const self = servicePrincipal('auth');
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
  const { visitor } = person;
  const made = await makeAccount(context, person, link);
  if ('wrong' in made) return made;
  const { account, userId } = made;
  const secret = await beginSession(context, { userId, account, way: 'with a password', visitor });
  const session = secret === null ? null : await context.sessions.find(sha256(secret));
  if (secret === null || session === null) throw new Fault('unavailable');
  return { joined: await joinAs(context, session, presented), secret };
}

/** An account with a mailed link has proved its address; without one nothing proves it. */
async function makeAccount(
  context: RegisterContext,
  person: NewPerson,
  link: ProvedLink | null,
): Promise<{ readonly wrong: string } | { readonly account: Account; readonly userId: string }> {
  if (link !== null) {
    const account = await checkRegistration(context, { ...person, email: link.address });
    if (typeof account === 'string') return { wrong: account };
    const proved = { account: { ...account, emailVerified: true }, linkHash: link.hash, guest: person };
    const created = await createProved(context, { ...proved, kind: 'invitation' });
    if (created === 'ended') return { wrong: 'The link of this invitation was used already. Ask for a new one.' };
    return created === 'taken'
      ? { wrong: 'There is an account with this email. Sign in to accept the invitation.' }
      : created;
  }
  const account = await registerAccount(context, person);
  if (typeof account === 'string') return { wrong: account };
  const userId = await personOfNew(context, account);
  await context.attempts.addSignInPlaces(account.id, signInPlacesOf(person));
  return { account, userId };
}

/**
 * The inviter knows the code too, so it proves the address of the person for this invitation only. Null for a person without the second
 * factor that the workspace requires: they add one, and accept again.
 */
export async function joinAs(
  { cells, accounts, directory, notices, issuer }: JoinContext,
  session: Session,
  { code, invitation }: Presented,
): Promise<Joined | null> {
  const account = await accounts.find(session.accountId);
  try {
    const { workspace } = (await directory.cellOf(invitation.workspaceId)) ?? cells.home;
    const { role } = await workspace.call(memberApi.internalJoinWorkspace, {
      principal: sessionPrincipal(session),
      body: { code, address: account?.email ?? null },
      idempotent: true,
    });
    const { workspaceName } = invitation;
    const isFirst = (await directory.workspacesOf(session.userId)).found.length <= 1;
    const data = { url: `${issuer}/account`, workspaceName, role };
    if (isFirst) await notices.send(session.userId, { kind: 'welcome', data });
    return { workspaceName, role };
  } catch (failure) {
    if (failure instanceof Fault && failure.code === 'second_factor_required') return null;
    throw failure;
  }
}
