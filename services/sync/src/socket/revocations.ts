import type { Logger } from '@wts/action-stream';
import { STREAM } from '@wts/contracts';
import type { Revocation } from '@wts/contracts';
import type { NatsConnection } from 'nats';

/** Hears of credentials and memberships that died. What is missed is made up for by the age bound of every cache. */
export function onRevocation(
  nats: { onConnect(callback: (connection: NatsConnection) => void): void },
  logger: Logger,
  handle: (revocation: Revocation) => void,
): void {
  const subscribed = new WeakSet<NatsConnection>();
  nats.onConnect((connection) => {
    // A subscription outlives a reconnection.
    if (subscribed.has(connection)) return;
    subscribed.add(connection);
    connection.subscribe(STREAM.revoked, {
      callback: (error, message) => {
        if (error !== null) return;
        try {
          handle(message.json<Revocation>());
        } catch (failure) {
          logger.warn({ err: failure }, 'unreadable revocation');
        }
      },
    });
  });
}
