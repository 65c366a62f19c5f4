import { Events, connect } from 'nats';
import type { NatsSource } from '../src/relay/handover.ts';

/** A connection that is null while it is down, as in services. */
export async function openNats(url: string, stack: AsyncDisposableStack): Promise<NatsSource> {
  const connection = await connect({ servers: new URL(url).host, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  stack.defer(() => connection.close());
  let isUp = true;
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === Events.Disconnect) isUp = false;
      if (type === Events.Reconnect) isUp = true;
    }
  })();
  return { connection: () => (isUp ? connection : null), onConnect: (callback) => callback(connection) };
}
