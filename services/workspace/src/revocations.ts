import type { Revocation } from '@wts/contracts';
import { LIMITS, STREAM } from '@wts/contracts';
import type { Nats } from '@wts/service-kit/nats';
import type { Logger } from '@wts/service-kit/observe';
import { setTimeout as pause } from 'node:timers/promises';

/** An answer waits this long for the broker to have the message; the bound of every cache holds without it. */
const FLUSH_MS = 500;

/**
 * Tells every replica of every service that a credential or a membership ended. It does so before the caller is
 * answered, so that who revokes a key and tries it finds it dead. Without a broker the caches forget by themselves
 * within LIMITS.credentialCacheMs, so a failure here fails nothing. Keeps api-keys.revoke.everywhere and
 * workspaces.members.cut-off.
 */
export function revocationSender(nats: Nats, log: Logger): (revocation: Revocation) => Promise<void> {
  return async (revocation) => {
    const connection = nats.connection();
    if (connection === null) {
      log.warn({ revocation, withinMs: LIMITS.credentialCacheMs }, 'no broker: caches forget this by themselves');
      return;
    }
    try {
      connection.publish(STREAM.revoked, JSON.stringify(revocation));
      await Promise.race([connection.flush(), pause(FLUSH_MS, undefined, { ref: false })]);
    } catch (failure) {
      log.warn({ err: failure, revocation }, 'a revocation could not be published');
    }
  };
}
