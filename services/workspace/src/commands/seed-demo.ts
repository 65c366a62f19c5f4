import { createApiKey, readApiKey, servicePrincipal } from '@wts/access';
import type { InternalMutation, KeyPermissions, Principal } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { demoContent } from '../domain/demo.ts';
import type { ApiKeyStore } from '../store/api-keys.ts';
import type { IdentityStore } from '../store/identities.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';
import type { CommitUnitSender } from './commit-unit.ts';
import { resolvePerson } from './resolve-person.ts';

interface Context {
  readonly workspaces: WorkspaceReads;
  readonly identities: IdentityStore;
  readonly keys: ApiKeyStore;
  readonly commitUnit: CommitUnitSender;
}

export interface DemoWishes {
  readonly apiKeyPrefix: string;
  readonly apiKey?: string | undefined;
  readonly readOnlyApiKey?: string | undefined;
  readonly issuer?: string | undefined;
}

export interface Demo {
  readonly userId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
}

const OWNER = { issuer: 'local', subject: 'demo', name: 'Demo Owner', email: 'demo@example.com' } as const;
const WORKSPACE = { name: 'Demo', urlKey: 'demo', logoUrl: null } as const;

/** Any number of runs, also at once, end with one owner, one workspace and the keys that were asked for. */
export async function seedDemo(context: Context, wishes: DemoWishes): Promise<Demo> {
  const userId = await resolvePerson({ ...context, metrics: { personCreated: () => {} } }, OWNER);
  if (wishes.issuer !== undefined) await link(context.identities, { issuer: wishes.issuer, subject: userId }, userId);
  const workspaceId = await demoWorkspace(context, { ...servicePrincipal('workspace-seed'), userId });
  return {
    userId,
    workspaceId,
    apiKey: await demoKey(context, wishes, userId, 'full-access', wishes.apiKey),
    readOnlyApiKey: await demoKey(context, wishes, userId, 'read-only', wishes.readOnlyApiKey),
  };
}

async function link(
  identities: IdentityStore,
  identity: { readonly issuer: string; readonly subject: string },
  userId: string,
): Promise<void> {
  await identities.claim(identity, userId, { email: OWNER.email, emailVerified: true });
  await identities.markPersonCreated(identity);
}

async function demoWorkspace({ workspaces, commitUnit }: Context, principal: Principal): Promise<string> {
  const { userId } = principal;
  const known = await workspaces.bySlug(userId, WORKSPACE.urlKey);
  if (known !== null) return known.id;
  const id = randomUUID();
  try {
    await commitUnit({ principal, authority: 'service', txId: `seed-demo:${id}`, mutations: demoUnit(id, userId) });
    return id;
  } catch (failure) {
    // Another run was faster, or somebody else has a workspace of this name.
    const other = await workspaces.bySlug(userId, WORKSPACE.urlKey);
    if (other === null) throw failure;
    return other.id;
  }
}

/** One unit: a demo is there whole or not at all. */
function demoUnit(id: string, userId: string): InternalMutation[] {
  const membership = { workspaceId: id, userId, role: 'owner' };
  return [
    { modelName: 'Workspace', modelId: id, action: 'INSERT', payload: WORKSPACE },
    { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload: membership },
    ...demoContent(id, userId),
  ];
}

/** A key with the wanted token, when that is or can become one; otherwise with a new token. */
async function demoKey(
  { keys }: Context,
  { apiKeyPrefix }: DemoWishes,
  userId: string,
  permissions: KeyPermissions,
  wanted: string | undefined,
): Promise<string> {
  const read = wanted === undefined ? null : readApiKey(wanted, apiKeyPrefix);
  const offers = [
    ...(wanted === undefined || read === null ? [] : [{ token: wanted, ...read }]),
    createApiKey(apiKeyPrefix),
  ];
  for (const { token, ...offer } of offers) {
    let known = await keys.findLive(offer.hash);
    if (known === null) {
      await insertUnlessKnown(keys, userId, permissions, offer);
      known = await keys.findLive(offer.hash);
    }
    if (known?.userId === userId && known.permissions === permissions) return token;
  }
  throw new Error(`The demo owner has ${LIMITS.apiKeysPerPersonMax} API keys already; revoke some`);
}

/** A token that was revoked, is somebody else's, or was just inserted by another run, is left as it is. */
async function insertUnlessKnown(
  keys: ApiKeyStore,
  userId: string,
  permissions: KeyPermissions,
  { hash, keyPrefix }: { readonly hash: string; readonly keyPrefix: string },
): Promise<void> {
  const label = permissions === 'full-access' ? 'demo' : 'demo, read-only';
  const key = { id: randomUUID(), userId, label, keyPrefix, tokenHash: hash, permissions };
  try {
    const free = { workspaceId: null, expiresAt: null, madeBy: null, madeByKey: null };
    await keys.insert({ ...key, ...free }, LIMITS.apiKeysPerPersonMax);
  } catch (failure) {
    if (!(failure instanceof Fault && failure.code === 'conflict')) throw failure;
  }
}
