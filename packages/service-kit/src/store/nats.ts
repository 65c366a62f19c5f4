import type { NatsConnection } from 'nats';
import { connect, Events } from 'nats';
import type { Logger } from '../observe/logger.ts';

interface NatsOptions {
  readonly url: string;
  readonly name: string;
  readonly log: Logger;
  /** Closes the connection with the service. */
  readonly stack: AsyncDisposableStack;
}

export interface Nats {
  /** The connection while it is up, else null: what cannot be sent now must not pile up in a buffer. */
  connection(): NatsConnection | null;
  /** Resolves at the first connection. */
  readonly ready: Promise<void>;
  /** Runs at once when connected, and after every reconnection. */
  onConnect(callback: (connection: NatsConnection) => void): void;
}

const RECONNECT_MS = 250;
const RETRY_MS = 1_000;
/** A dead connection is noticed after two of these. */
const PING_MS = 5_000;

/** The client reads no credentials from an address: `nats://user:password@host:port` is taken apart for it. */
function addressOf(url: string): { servers: string; user?: string; pass?: string } {
  const { username, password, host } = new URL(url);
  if (username === '') return { servers: url };
  return { servers: host, user: decodeURIComponent(username), pass: decodeURIComponent(password) };
}

/**
 * The connection to NATS. Opening never waits and never fails: the connection comes when the server does, and comes back
 * for ever.
 */
export function openNats({ url, name, log, stack }: NatsOptions): Nats {
  const callbacks: ((connection: NatsConnection) => void)[] = [];
  const first = Promise.withResolvers<void>();
  const closing = new AbortController();
  let current: NatsConnection | null = null;
  let isUp = false;

  const up = (connection: NatsConnection): void => {
    isUp = true;
    log.info({ server: connection.getServer() }, 'connected to NATS');
    first.resolve();
    for (const callback of callbacks) callback(connection);
  };

  async function follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) {
        if (isUp && !closing.signal.aborted) log.warn('lost NATS');
        isUp = false;
      } else if (status.type === Events.Reconnect) {
        up(connection);
      }
    }
  }

  async function stayConnected(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        current = await connect({
          ...addressOf(url),
          name,
          maxReconnectAttempts: -1,
          reconnectTimeWait: RECONNECT_MS,
          pingInterval: PING_MS,
          maxPingOut: 2,
          ignoreAuthErrorAbort: true,
        });
        // `close` may have come while connecting.
        if (closing.signal.aborted) break;
        void follow(current);
        up(current);
        const err = await current.closed();
        if (!closing.signal.aborted) log.warn({ err }, 'the connection to NATS ended');
      } catch (err) {
        log.debug({ err }, 'NATS is not there');
      }
      isUp = false;
      if (!closing.signal.aborted) await pause(RETRY_MS, closing.signal);
    }
    await current?.close();
  }

  const done = stayConnected();
  stack.defer(async () => {
    closing.abort();
    await current?.close();
    await done;
  });
  return {
    connection: () => (isUp ? current : null),
    ready: first.promise,
    onConnect(callback) {
      callbacks.push(callback);
      if (isUp && current !== null) callback(current);
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
