import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions, Msg, NatsConnection } from 'nats';
import { connect, Events } from 'nats';
import type { Logger } from '../observe/logger.ts';

interface NatsOptions {
  /** Of one cluster: `nats://user:password@host:4222`, `tls://...`. Credentials stand in the first, for all. */
  readonly urls: readonly string[];
  readonly name: string;
  readonly log: Logger;
  /** Closes the connection with the service. */
  readonly stack: AsyncDisposableStack;
}

type OnConnect = (connection: NatsConnection) => void;

export interface Nats {
  /** The connection while it is up, else null: what cannot be sent now must not pile up in a buffer. */
  readonly connection: () => NatsConnection | null;
  /** Resolves at the first connection. */
  readonly ready: Promise<void>;
  /** Runs at once when connected, and after every reconnection. */
  readonly onConnect: (callback: OnConnect) => void;
}

const RECONNECT_MS = 250;
const RETRY_MS = 1_000;
/** A refusal is logged so often; a flood of them must not become a flood of lines. */
const REFUSAL_SAID_EVERY_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** A dead connection is noticed after two of these. */
const PING_MS = 5_000;

/**
 * The connection to NATS. Opening never waits and never fails: the connection comes when the server does, and comes back
 * for ever.
 */
export function openNats({ urls, name, log, stack }: NatsOptions): Nats {
  const link = new Link({ ...natsConnectionOptions(urls), name }, log);
  void link.stay();
  stack.defer(() => link.close());
  return {
    connection: () => link.connection,
    ready: link.ready,
    onConnect: (callback) => link.onConnect(callback),
  };
}

/** Subscribes on every connection there will be: one that comes back keeps its subscriptions, a new one has none. */
export function subscribe(nats: Pick<Nats, 'onConnect'>, subject: string, onMessage: (message: Msg) => void): void {
  const subscribed = new WeakSet<NatsConnection>();
  nats.onConnect((connection) => {
    if (subscribed.has(connection)) return;
    subscribed.add(connection);
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) onMessage(message);
      },
    });
  });
}

class Link {
  readonly ready: Promise<void>;
  readonly #setReady: () => void;
  readonly #options: ConnectionOptions;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #callbacks: OnConnect[] = [];
  #current: NatsConnection | null = null;
  #isUp = false;
  #isMissed = false;
  #silentUntil = 0;

  constructor(options: ConnectionOptions, log: Logger) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#setReady = resolve;
    this.#options = {
      ...options,
      timeout: CONNECT_TIMEOUT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      // A password that is being changed is wrong for a moment, not for ever.
      ignoreAuthErrorAbort: true,
    };
    this.#log = log;
  }

  get connection(): NatsConnection | null {
    return this.#isUp ? this.#current : null;
  }

  onConnect(callback: OnConnect): void {
    this.#callbacks.push(callback);
    if (this.connection !== null) this.#tell(callback, this.connection);
  }

  /** Connects, and again when the client itself gave up; ends when closed. */
  async stay(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const connection = await connect(this.#options);
        this.#current = connection;
        // `close` may have come while connecting, and then found nothing to close.
        if (signal.aborted) await connection.close();
        else await this.#use(connection);
      } catch (err) {
        this.#log[this.#isMissed ? 'debug' : 'warn']({ err }, 'NATS is not there; trying on');
        this.#isMissed = true;
      }
      this.#isUp = false;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#isUp = false;
    await this.#current?.close();
  }

  async #use(connection: NatsConnection): Promise<void> {
    // Not awaited: the client never ends this iteration, not even when the connection is closed.
    void this.#follow(connection);
    this.#up(connection);
    const err = await connection.closed();
    if (!this.#closing.signal.aborted) this.#log.warn({ err }, 'the connection to NATS ended');
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type, data } of connection.status()) {
      if (type === Events.Disconnect) this.#down();
      else if (type === Events.Reconnect) this.#up(connection);
      // What this user may not publish or receive: its rights on the server are not those of infra/nats.
      else if (type === Events.Error) this.#warnOfRefusal(data);
    }
  }

  /** Each message that a service may not publish is refused anew, hundreds a second. */
  #warnOfRefusal(refused: unknown): void {
    const isSaid = performance.now() < this.#silentUntil;
    this.#log[isSaid ? 'debug' : 'warn']({ refused }, 'NATS refused what was asked of it');
    if (!isSaid) this.#silentUntil = performance.now() + REFUSAL_SAID_EVERY_MS;
  }

  #up(connection: NatsConnection): void {
    this.#isUp = true;
    this.#isMissed = false;
    this.#log.info({ server: connection.getServer() }, 'connected to NATS');
    this.#setReady();
    for (const callback of this.#callbacks) this.#tell(callback, connection);
  }

  #down(): void {
    if (this.#isUp) this.#log.warn('lost NATS');
    this.#isUp = false;
  }

  #tell(callback: OnConnect, connection: NatsConnection): void {
    try {
      callback(connection);
    } catch (err) {
      this.#log.error({ err }, 'could not use the connection to NATS');
    }
  }
}

/** Addresses as the client takes them, which reads neither credentials nor `tls:` from one. */
export function natsConnectionOptions(texts: readonly string[]): ConnectionOptions {
  const urls = texts.map((text) => new URL(text));
  const [first] = urls;
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return {
    servers: urls.map(({ host }) => host),
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
  };
}
