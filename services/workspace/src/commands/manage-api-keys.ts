import { can, createApiKey as mintApiKey, requireScope } from '@wts/access';
import type { ApiKey, NewApiKey, Principal, Revocation } from '@wts/contracts';
import { Fault, LIMITS, ROLES } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { requireUnrestricted } from './require-unrestricted.ts';
import type { ApiKeyStore, KeyRefusal, NewStoredKey } from '../store/api-keys.ts';
import { newIds, type Trace } from './commit-unit.ts';

interface Context {
  readonly keys: ApiKeyStore;
  readonly roles: Roles;
  readonly apiKeyPrefix: string;
  readonly revoke: (revocation: Revocation) => Promise<void>;
}

/** Who may end a key that somebody limited to their workspace. */
const KEY_OFFICE = ROLES.filter((role) => can(role, 'keys.manage'));

/** Makes a key and shows its token this once. Keeps api-keys.create.answer and api-keys.token.once. */
export async function createApiKey(
  { keys, roles, apiKeyPrefix }: Context,
  principal: Principal,
  { label, permissions, workspaceId, expiresAt }: NewApiKey,
  trace: Trace,
): Promise<ApiKey & { readonly token: string }> {
  requireKeyOffice(principal);
  if (workspaceId !== undefined) await roles.require(principal, workspaceId);
  const { token, hash, keyPrefix } = mintApiKey(apiKeyPrefix);
  const key = {
    userId: principal.userId,
    label,
    keyPrefix,
    tokenHash: hash,
    permissions,
    workspaceId: workspaceId ?? null,
    expiresAt: endOf(principal, expiresAt),
    ...makerOf(principal),
  };
  let made: ApiKey | KeyRefusal = 'too_many';
  for (const id of newIds(trace)) {
    if (made === 'too_many') made = await keys.insert({ id, ...key }, LIMITS.apiKeysPerPersonMax);
  }
  // A cache did not know yet that the key is dead. Not a 401: the gateway would take it for a refusal of its own token.
  if (made === 'maker_revoked')
    throw new Fault('forbidden', { message: 'The API key that made this request is revoked.' });
  if (made === 'too_many') {
    const message = `A person can have at most ${LIMITS.apiKeysPerPersonMax} API keys; revoke some first.`;
    throw new Fault('conflict', { message });
  }
  return { ...made, token };
}

/**
 * The keys of the caller, or those that are limited to a workspace of theirs, without tokens. Keeps
 * api-keys.list.no-token.
 */
export async function listApiKeys(
  { keys, roles }: Context,
  principal: Principal,
  workspaceId: string | undefined,
): Promise<ApiKey[]> {
  requireKeyOffice(principal);
  if (workspaceId === undefined) return keys.listOf(principal.userId);
  await roles.requirePermission(principal, workspaceId, 'keys.manage');
  return keys.listIn(workspaceId);
}

/**
 * The key is dead at once here; the revocation takes it out of every cache and closes its sockets.
 *
 * A key belongs to its person, who ends any of theirs. The owner of a workspace ends keys that are limited to it, because
 * these open nothing else. One that opens other workspaces too is not for them to end: they remove its person, which
 * shuts all credentials of that person out of this workspace and touches no other. To anybody else it is not there.
 *
 * With `includeMade`, what was made with it dies with it. A key that is limited to a workspace makes none, so this is for
 * its person alone.
 *
 * Keeps api-keys.revoke.dead, api-keys.revoke.made and api-keys.owner.revokes.
 */
export async function revokeApiKey(
  { keys, revoke }: Context,
  principal: Principal,
  keyId: string,
  includeMade: boolean,
): Promise<void> {
  requireKeyOffice(principal);
  const family = includeMade ? await keys.revokeWithMade(principal.userId, keyId) : [];
  const revoked = family.length > 0 ? family : await keys.revoke(principal.userId, keyId, KEY_OFFICE);
  if (revoked.length === 0) throw new Fault('not_found');
  await Promise.all(revoked.map(({ id, userId }) => revoke({ kind: 'credential', credentialId: id, userId })));
}

/** What a key is made with is kept with it. Keeps api-keys.list.maker. */
function makerOf({ credential: { kind, id } }: Principal): Pick<NewStoredKey, 'madeBy' | 'madeByKey'> {
  if (kind === 'api_key') return { madeBy: kind, madeByKey: id };
  return { madeBy: kind === 'jwt' ? 'session' : null, madeByKey: null };
}

/** A credential for one workspace may not make, see or end credentials for others. */
function requireKeyOffice(principal: Principal): void {
  requireScope(principal, 'admin');
  requireUnrestricted(principal);
}

/**
 * A key does not expire unless it was asked to (keeps api-keys.expiry.no-timer); one that does may not outlive itself
 * through a key it makes. Sessions may make keys that last.
 */
function endOf({ credential, expiresAt: keyEndsAt }: Principal, wanted: string | undefined): Date | null {
  const end = wanted === undefined ? null : new Date(wanted);
  if (end !== null && !(end.getTime() > Date.now())) {
    throw new Fault('validation_failed', { message: 'expiresAt must be in the future.' });
  }
  if (credential.kind !== 'api_key' || keyEndsAt === undefined) return end;
  return new Date(Math.min(end?.getTime() ?? Infinity, keyEndsAt * 1000));
}
