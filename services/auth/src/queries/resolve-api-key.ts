import type { KeyPermissions, Principal, Scope } from '@wts/contracts';
import type { ApiKeyStore } from '../store/api-keys.ts';

/** Keeps api-keys.permissions.read-only, api-keys.permissions.full-access and api-keys.create.full-access. */
const SCOPES_OF: Readonly<Record<KeyPermissions, readonly Scope[]>> = {
  'read-only': ['read'],
  'full-access': ['read', 'write', 'admin'],
};

/** The principal of a key. Null when it is unknown, revoked or expired, without a difference. */
export async function resolveApiKey(keys: ApiKeyStore, tokenHash: string): Promise<Principal | null> {
  const key = await keys.findLive(tokenHash);
  if (key === null) return null;
  return {
    userId: key.userId,
    scopes: SCOPES_OF[key.permissions],
    credential: { kind: 'api_key', id: key.id },
    ...(key.workspaceId === null ? {} : { workspaceId: key.workspaceId }),
    ...(key.expiresAt === null ? {} : { expiresAt: Math.floor(key.expiresAt.getTime() / 1000) }),
  };
}
