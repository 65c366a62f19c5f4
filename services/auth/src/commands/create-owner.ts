import { comparableAddress } from '@wts/access';
import { Fault, type BodyOf, type operatorApi, type OperatorWorkspace } from '@wts/contracts';
import { randomBytes, randomUUID } from 'node:crypto';
import type { OperatorContext } from '../context.ts';
import type { Account } from '../store/accounts.ts';
import { claimWorkspace } from './claim-workspace.ts';
import type { Operator } from './disable-person.ts';
import { commitByOperator } from './operate-workspaces.ts';
import { plainAddress } from '../domain/plain-address.ts';

type NewOwner = BodyOf<typeof operatorApi.createOwner>;

const HASH_MS = 30_000;

/**
 * An account, its person and a workspace of theirs: how an installation without people gets its first. Each step happens once, by the
 * address and the urlKey, so a run that broke off is repeated, and two operators who do it at once end with one owner and one workspace.
 * The account has a password that no one knows, until its owner chooses one by a link. Keeps operator.owner.once.
 */
export async function createOwner(
  context: OperatorContext,
  given: NewOwner,
  operator: Operator,
): Promise<{ readonly userId: string; readonly workspaceId: string; readonly account: Account }> {
  const { workspaces, accounts, personOf } = context;
  if (!context.hasAccounts) {
    const message = 'ACCOUNTS is off: the person signs in at the identity provider first, then you make them an owner.';
    throw new Fault('conflict', { message });
  }
  const email = plainAddress(given.email.trim());
  if (email === null) throw new Fault('validation_failed', { message: 'body/email must be such as ada@example.com' });
  const known = await accounts.findByEmail(comparableAddress(email));
  // Of another person, it leaves no account behind.
  if (known === null && (await workspaces.findByUrlKey(given.urlKey)) !== null) throw new Fault('slug_taken');
  const account = known ?? (await newAccount(context, email, given.name.trim()));
  const userId = await personOf(account);
  let workspace = await ownWorkspace(context, userId, given.urlKey);
  if (workspace === null) await refuseAccountOfStranger(context, account);
  const made = workspace === null && (await newWorkspace(context, given, userId));
  workspace ??= await ownWorkspace(context, userId, given.urlKey);
  if (workspace === null) throw new Fault('slug_taken');
  if (made) {
    const about = { userId, accountId: account.id, workspaceId: workspace.id };
    await context.record.add({ kind: 'owner-made', ...about, ...operator, details: {} });
  }
  return { userId, workspaceId: workspace.id, account };
}

/**
 * An account that someone registered with an address that no one proved may be of a stranger, whose password, keys and passkeys would then reach
 * the new workspace.
 */
async function refuseAccountOfStranger({ attempts }: OperatorContext, account: Account): Promise<void> {
  if (account.emailVerified || !(await attempts.isUsed(account.id))) return;
  const message =
    'There is an account with this address already, and no one proved that it is of the person you mean. When you know that it is, let them create the workspace themselves; otherwise erase it first.';
  throw new Fault('conflict', { message });
}

/** Null unless the person owns the workspace of this urlKey. */
async function ownWorkspace(
  { workspaces, directory }: OperatorContext,
  userId: string,
  urlKey: string,
): Promise<OperatorWorkspace | null> {
  const workspace = await workspaces.findByUrlKey(urlKey);
  const isOwner = (await directory.membershipDetails(userId)).found.some(
    ({ workspaceId, role }) => workspaceId === workspace?.id && role === 'owner',
  );
  return isOwner ? workspace : null;
}

/** The account of the address: of several who make one at once, that of the first. */
async function newAccount({ accounts, passwords }: OperatorContext, email: string, name: string): Promise<Account> {
  const sender = { network: '', signal: AbortSignal.timeout(HASH_MS) };
  const passwordHash = await passwords.hash(randomBytes(32).toString('base64url'), sender);
  const comparableEmail = comparableAddress(email);
  await accounts.insert({ id: randomUUID(), comparableEmail, email, name, emailVerified: false, passwordHash });
  const account = await accounts.findByEmail(comparableEmail);
  if (account === null) throw new Error('An account vanished between its creation and its reading');
  return account;
}

/** False when the urlKey is taken, by an earlier run or by others. */
async function newWorkspace(
  context: OperatorContext,
  { workspaceName: name, urlKey }: NewOwner,
  userId: string,
): Promise<boolean> {
  const id = randomUUID();
  const payload = { workspaceId: id, userId, role: 'owner' };
  const { home } = context.cells;
  try {
    await claimWorkspace(context, { workspaceId: id, urlKey, userId, shard: home.shard });
    await commitByOperator(home, [
      { modelName: 'Workspace', modelId: id, action: 'INSERT', payload: { name, urlKey, logoUrl: null } },
      { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload },
    ]);
    return true;
  } catch (failure) {
    if (failure instanceof Fault && failure.code === 'slug_taken') return false;
    throw failure;
  }
}
