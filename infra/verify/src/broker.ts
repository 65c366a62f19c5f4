import { openPublisher } from '@wts/action-stream';
import { STREAM } from '@wts/contracts';
import { connect, type NatsConnection } from 'nats';

/** The client reads no credentials from an address. */
export function connectToBroker(url: string): Promise<NatsConnection> {
  const { hostname, port, username, password } = new URL(url);
  return connect({
    servers: `${hostname}:${port || '4222'}`,
    ...(username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
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
