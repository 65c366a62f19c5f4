import { createApiKey as mintApiKey, requireScope } from '@wts/access';
import type { ApiKey, NewApiKey, Principal, Revocation } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { standingIn } from '../queries/standing.ts';
import type { ApiKeyStore } from '../store/api-keys.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';

interface Door {
  readonly keys: ApiKeyStore;
  readonly workspaces: WorkspaceReads;
  readonly apiKeyPrefix: string;
  readonly revoke: (revocation: Revocation) => Promise<void>;
}

/** Makes a key and shows its token this once. Keeps api-keys.create.answer and api-keys.token.once. */
export async function createApiKey(
  { keys, workspaces, apiKeyPrefix }: Door,
  principal: Principal,
  { label, permissions, workspaceId, expiresAt }: NewApiKey,
): Promise<ApiKey & { readonly token: string }> {
  requireKeyOffice(principal);
  if (workspaceId !== undefined) await standingIn(workspaces, principal, workspaceId);
  const { token, hash, keyPrefix } = mintApiKey(apiKeyPrefix);
  const made = await keys.insert(
    {
      id: randomUUID(),
      userId: principal.userId,
      label,
      keyPrefix,
      tokenHash: hash,
      permissions,
      workspaceId: workspaceId ?? null,
      expiresAt: endOf(principal, expiresAt),
    },
    LIMITS.apiKeysPerPersonMax,
  );
  if (made === null) {
    const message = `A person has at most ${LIMITS.apiKeysPerPersonMax} API keys; revoke some first.`;
    throw new Fault('conflict', { message });
  }
  return { ...made, token };
}

/** The keys of the caller, without tokens. Keeps api-keys.list.no-token. */
export async function listApiKeys({ keys }: Door, principal: Principal): Promise<ApiKey[]> {
  requireKeyOffice(principal);
  return keys.listOf(principal.userId);
}

/**
 * The key is dead at once here; the revocation takes it out of every cache and closes its sockets. Keeps
 * api-keys.revoke.dead.
 */
export async function revokeApiKey({ keys, revoke }: Door, principal: Principal, keyId: string): Promise<void> {
  requireKeyOffice(principal);
  if (!(await keys.revoke(principal.userId, keyId))) throw new Fault('not_found');
  await revoke({ kind: 'credential', credentialId: keyId.toLowerCase(), userId: principal.userId });
}

/** A credential for one workspace may not make, see or end credentials for others. */
function requireKeyOffice(principal: Principal): void {
  requireScope(principal, 'admin');
  if (principal.workspaceId === undefined) return;
  throw new Fault('forbidden', { message: 'This credential is restricted to one workspace.' });
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
