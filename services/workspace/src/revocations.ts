import type { Revocation } from '@wts/contracts';
import { LIMITS, STREAM } from '@wts/contracts';
import type { Nats } from '@wts/service-kit/nats';
import type { Logger } from '@wts/service-kit/observe';
import { setTimeout as pause } from 'node:timers/promises';

/** How long an answer waits until NATS has the message; without it caches expire by themselves. */
const FLUSH_MS = 500;
const withinMs = LIMITS.credentialCacheMs;

/**
 * Publishes that a credential or a membership ended, to every replica of every service and before the answer to the caller,
 * so that a revoked key does not work after the answer. Without NATS the caches expire by themselves within
 * LIMITS.credentialCacheMs, so a failure here fails no request. Keeps api-keys.revoke.everywhere and
 * workspaces.members.cut-off.
 */
export function revocationSender(nats: Nats, log: Logger): (revocation: Revocation) => Promise<void> {
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
