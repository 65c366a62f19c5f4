import { openPublisher } from '@wts/log/stream';
import { STREAM } from '@wts/contracts';
import { natsConnectionOptions } from '@wts/service-kit/nats';
import { connect, type NatsConnection } from 'nats';

/** `urls` as in NATS_URL: one address, or several of one cluster divided by commas. */
export function connectToBroker(urls: string): Promise<NatsConnection> {
  // A broker that dies comes back, or another of its cluster answers; who waits for it says for how long.
  return connect({
    ...natsConnectionOptions(urls.split(',').map((url) => url.trim())),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
  });
}

/** Where the stream stands: the number of its last message, and the place in the log it has come to. */
export async function endOfStream(url: string): Promise<{ sequence: number; place: bigint }> {
  const nc = await connectToBroker(url);
  try {
    const { state } = await (await nc.jetstreamManager()).streams.info(STREAM.name);
    return { sequence: state.last_seq, place: (await openPublisher(nc).last())?.last ?? 0n };
  } finally {
    await nc.close();
  }
}
