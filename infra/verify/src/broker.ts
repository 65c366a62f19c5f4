import { openPublisher } from '@wts/log/stream';
import { STREAM } from '@wts/contracts';
import { natsConnectionOptions } from '@wts/service-kit/nats';
import { connect, type NatsConnection } from 'nats';

/** Closes at the end of its block. `urls` as in NATS_URL: one address, or several addresses of one cluster separated by commas. */
export async function connectToBroker(urls: string): Promise<NatsConnection & AsyncDisposable> {
  const connection = await connect({
    ...natsConnectionOptions(urls.split(',').map((url) => url.trim())),
    // Reconnects without limit, because callers have deadlines of their own.
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
  });
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
}

/** The end of the stream: the sequence number of its last message, and the position of its last entry. */
export async function endOfStream(url: string): Promise<{ sequence: number; position: bigint }> {
  await using nc = await connectToBroker(url);
  const { state } = await (await nc.jetstreamManager()).streams.info(STREAM.name);
  return { sequence: state.last_seq, position: (await openPublisher(nc).last())?.last ?? 0n };
}
