import { STREAM } from '@wts/contracts';
import type { Revocation } from '@wts/contracts';
import type { Nats } from './nats.ts';
import { subscribe } from './nats.ts';

/**
 * Receives revocations of credentials and memberships. When a message is lost, a revoked credential is accepted until it is
 * looked up again, LIMITS.credentialCacheMs at most.
 */
export function onRevocation(nats: Pick<Nats, 'onConnect'>, onRevoked: (revocation: Revocation) => void): void {
  subscribe(nats, STREAM.revoked, ({ data }) => {
    const revocation = readRevocation(data);
    if (revocation !== null) onRevoked(revocation);
  });
}

/** Null for anything that is no revocation, because a wrong message must not stop the process. */
function readRevocation(data: Uint8Array): Revocation | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(data).toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { kind, credentialId, userId, workspaceId } = value as Record<string, unknown>;
  if (kind !== 'credential' && kind !== 'membership') return null;
  return {
    kind,
    ...(typeof credentialId === 'string' ? { credentialId } : {}),
    ...(typeof userId === 'string' ? { userId } : {}),
    ...(typeof workspaceId === 'string' ? { workspaceId } : {}),
  };
}
