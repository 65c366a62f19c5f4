import { setTimeout as pause } from 'node:timers/promises';
import { CREDENTIAL_KINDS, LIMITS, STREAM, type Revocation } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { subscribe, type Nats } from './nats.ts';

/** How long an answer waits until NATS has the message; without it caches expire by themselves. */
const FLUSH_MS = 500;
const withinMs = LIMITS.credentialCacheMs;

/** Publishes that a credential or a membership ended. */
export type RevocationSender = (revocation: Revocation) => Promise<void>;

/**
 * Publishes that a credential or a membership ended, to every replica of every service and before the answer to the caller,
 * so that a revoked credential does not work after the answer. Without NATS the caches expire by themselves within
 * LIMITS.credentialCacheMs, so a failure here fails no request. Keeps api-keys.revoke.everywhere and
 * workspaces.members.cut-off.
 */
export function revocationSender(nats: Pick<Nats, 'connection'>, log: Logger): RevocationSender {
  return async (revocation) => {
    const connection = nats.connection();
    if (connection === null) {
      log.warn(
        { revocation, withinMs },
        'a revocation was not published: NATS is not connected; caches of other services expire within withinMs',
      );
      return;
    }
    try {
      connection.publish(STREAM.revoked, JSON.stringify(revocation));
      await Promise.race([connection.flush(), pause(FLUSH_MS, undefined, { ref: false })]);
    } catch (failure) {
      log.warn(
        { err: failure, revocation, withinMs },
        'could not publish a revocation; caches of other services expire within withinMs',
      );
    }
  };
}

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
  const { kind, credentialId, userId, credentialKind, workspaceId } = value as Record<string, unknown>;
  if (kind !== 'credential' && kind !== 'membership') return null;
  const ofKind = CREDENTIAL_KINDS.find((known) => known === credentialKind);
  return {
    kind,
    ...(typeof credentialId === 'string' ? { credentialId } : {}),
    ...(typeof userId === 'string' ? { userId } : {}),
    // Of an unknown kind all credentials are dropped, which is safe.
    ...(ofKind === undefined ? {} : { credentialKind: ofKind }),
    ...(typeof workspaceId === 'string' ? { workspaceId } : {}),
  };
}
