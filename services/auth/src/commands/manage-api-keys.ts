import { can, generateApiKey, requireScope, requireUnrestricted } from '@wts/access';
import { Fault, type ApiKey, type NewApiKey, type Principal } from '@wts/contracts';
import type { Context } from '../context.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import { publishRevoked } from '../credentials/publish-revoked.ts';
import type { SecurityEvent, Visitor } from '../domain/security-event.ts';
import type { ApiKeyStore, KeyInsertRefusal, NewStoredKey, RevokedKey } from '../store/api-keys.ts';
import { newIds, type EffectSource } from '@wts/service-kit/routes';
import { AUTH_LIMITS } from '../limits.ts';

export type KeyContext = Pick<Context, 'keys' | 'roles' | 'apiKeyPrefix' | 'revoke' | 'record'>;

/** Creates a key and returns its token, which is shown only here. Keeps api-keys.create.answer, api-keys.create.rate and api-keys.token.once. */
export async function createApiKey(
  { record, roles, apiKeyPrefix }: KeyContext,
  principal: Principal,
  { label, permissions, workspaceId, expiresAt }: NewApiKey,
  source: EffectSource & { readonly visitor: Visitor },
): Promise<ApiKey & { readonly token: string }> {
  requireKeyAdmin(principal);
  if (workspaceId !== undefined) await roles.require(principal, workspaceId);
  const { token, hash, keyPrefix } = generateApiKey(apiKeyPrefix);
  const key = {
    userId: principal.userId,
    label,
    keyPrefix,
    tokenHash: hash,
    permissions,
    workspaceId: workspaceId ?? null,
    expiresAt: expiryOf(principal, expiresAt),
    ...makerOf(principal),
  };
  let made: ApiKey | KeyInsertRefusal = 'too_many';
  for (const id of newIds(source)) {
    if (made === 'too_many') made = await insertKey(record, { id, ...key }, source.visitor);
  }
  // A cache still had the revoked key. Not a 401: the gateway would take that for a refusal of the internal token.
  if (made === 'maker_revoked')
    throw new Fault('forbidden', { message: 'The API key that made this request is revoked.' });
  if (made === 'too_fast') throw new Fault('rate_limited', { retryAfterSeconds: 60 });
  if (made === 'too_many') {
    const message = `A person can have at most ${AUTH_LIMITS.apiKeysPerPersonMax} API keys; revoke some first.`;
    throw new Fault('conflict', { message });
  }
  return { ...made, token };
}

function insertKey(record: SecurityRecord, key: NewStoredKey, visitor: Visitor): Promise<ApiKey | KeyInsertRefusal> {
  return record.act(async ({ keys, record: write }) => {
    const made = await keys.insert(key, AUTH_LIMITS.apiKeysPerPersonMax);
    if (typeof made === 'string') return made;
    const { id, userId, workspaceId, label, keyPrefix: prefix, permissions: access } = key;
    const details = { label, prefix, access };
    await write({ kind: 'key-created', userId, workspaceId, subjectId: id, visitor, details });
    return made;
  });
}

/** The keys of the caller, or those limited to a workspace of theirs, without tokens. Keeps api-keys.list.no-token. */
export async function listApiKeys(
  { keys, roles }: KeyContext,
  principal: Principal,
  workspaceId: string | undefined,
): Promise<ApiKey[]> {
  requireKeyAdmin(principal);
  if (workspaceId === undefined) return keys.listOf(principal.userId);
  await roles.requirePermission(principal, workspaceId, 'keys.manage');
  return keys.listIn(workspaceId);
}

/**
 * Revokes a key in the store, and publishes that, which removes it from every cache and closes its sockets.
 *
 * A person may revoke their own keys. The owner of a workspace may revoke keys that are limited to it. A key that reaches
 * other workspaces too is not the owner's to revoke: the owner removes its person instead, which ends the access of all
 * credentials of that person to this workspace only. All other callers get 404.
 *
 * With `includeMade`, the keys that were created with it are revoked too. A key that is limited to a workspace creates none,
 * so this is for the person of the key only.
 *
 * Keeps api-keys.revoke.dead, api-keys.revoke.made and api-keys.owner.revokes.
 */
export async function revokeApiKey(
  context: Pick<Context, 'directory' | 'record' | 'revoke'>,
  principal: Principal,
  { keyId, includeMade }: { readonly keyId: string; readonly includeMade: boolean },
  visitor: Visitor,
): Promise<void> {
  requireKeyAdmin(principal);
  const { userId } = principal;
  const source = { by: { kind: 'person', id: userId }, visitor } as const;
  // Their own at once, also while memberships cannot be read.
  const isOwn = await revokeKeys(context, source, (keys) =>
    includeMade ? keys.revokeWithMade(userId, keyId) : keys.revoke(userId, keyId, []),
  );
  if (isOwn) return;
  // Read for any id: the time this takes must not reveal whether a key of another person exists.
  const { found, away } = await context.directory.workspacesOf(userId);
  const administered = found.filter(({ role }) => can(role, 'keys.manage')).map(({ id }) => id);
  if (!(await revokeKeys(context, source, (keys) => keys.revoke(userId, keyId, administered))))
    throw new Fault(away.length === 0 ? 'not_found' : 'unavailable');
}

interface RevocationSource {
  readonly by: NonNullable<SecurityEvent['actor']>;
  readonly visitor: Visitor;
}

/** Revokes keys with their events, and publishes it. False when there was none. */
export async function revokeKeys(
  { record, revoke }: Pick<KeyContext, 'record' | 'revoke'>,
  { by: actor, visitor }: RevocationSource,
  work: (keys: ApiKeyStore) => Promise<RevokedKey[]>,
): Promise<boolean> {
  const revoked = await record.act(async ({ keys, record: write }) => {
    const ended = await work(keys);
    for (const { id: subjectId, userId, workspaceId, label, keyPrefix: prefix } of ended)
      await write({ kind: 'key-revoked', userId, workspaceId, subjectId, actor, visitor, details: { label, prefix } });
    return ended;
  });
  return publishRevoked(revoke, revoked);
}

/** The credential that creates the key, stored with it. Keeps api-keys.list.maker. */
function makerOf({ credential: { kind, id } }: Principal): Pick<NewStoredKey, 'madeBy' | 'madeByKey'> {
  if (kind === 'api_key') return { madeBy: kind, madeByKey: id };
  return { madeBy: kind === 'jwt' ? 'session' : null, madeByKey: null };
}

/** A credential for one workspace may not create, see or revoke credentials for others. */
function requireKeyAdmin(principal: Principal): void {
  requireScope(principal, 'admin');
  requireUnrestricted(principal);
}

/**
 * A key without `expiresAt` does not expire (keeps api-keys.expiry.no-timer), except that a key may not outlive the key
 * that creates it. Sessions may create keys that do not expire.
 */
function expiryOf({ credential, expiresAt: keyEndsAt }: Principal, given: string | undefined): Date | null {
  const end = given === undefined ? null : new Date(given);
  if (end !== null && !(end.getTime() > Date.now()))
    throw new Fault('validation_failed', { message: 'expiresAt must be in the future.' });
  if (credential.kind !== 'api_key' || keyEndsAt === undefined) return end;
  return new Date(Math.min(end?.getTime() ?? Infinity, keyEndsAt * 1000));
}
