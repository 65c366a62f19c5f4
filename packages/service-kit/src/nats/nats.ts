import { setTimeout as sleep } from 'node:timers/promises';
import type { Auth, ConnectionOptions, Msg, NatsConnection } from 'nats';
import { connect, Events } from 'nats';
import { natsInbox } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';

interface NatsOptions {
  /** Servers of one cluster: `nats://user:password@host:4222`, `tls://...`. The credentials of the first are used for all. */
  readonly natsUrls: readonly string[];
  /** For the time in which it replaces that of the address, or the reverse. */
  readonly natsOtherPassword?: string | undefined;
  readonly name: string;
  readonly log: Logger;
  /** Closes the connection with the service. */
  readonly stack: AsyncDisposableStack;
}

type OnConnect = (connection: NatsConnection) => void;

export interface Nats {
  /** The connection while it is up, else null, so that messages do not accumulate in its buffer. */
  readonly connection: () => NatsConnection | null;
  /** Resolves with the first connection. */
  readonly ready: Promise<void>;
  /** Called immediately when connected, and after every reconnection. */
  readonly onConnect: (callback: OnConnect) => void;
}

const RECONNECT_MS = 250;
const RETRY_MS = 1_000;
/** Refusals are logged at most this often, so that many of them do not fill the log. */
const REFUSAL_LOGGED_EVERY_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** A dead connection is noticed after two of these. */
const PING_MS = 5_000;

/**
 * The connection to NATS. Opening never waits and never fails: it connects when the server is up, and reconnects without limit.
 */
export function openNats({ natsUrls: urls, natsOtherPassword: otherPassword, name, log, stack }: NatsOptions): Nats {
  const credentials = new Credentials(urls, otherPassword);
  const authenticator = (): Auth => credentials.next();
  const link = new ReconnectingLink({ ...serversOf(urls), authenticator, name }, log);
  link.onConnect(() => credentials.accepted());
  void link.keepConnected();
  stack.defer(() => link.close());
  return {
    connection: () => link.connection,
    ready: link.ready,
    onConnect: (callback) => link.onConnect(callback),
  };
}

/** Subscribes on every new connection. A connection that reconnects keeps its subscriptions. */
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

class ReconnectingLink {
  readonly ready: Promise<void>;
  readonly #setReady: () => void;
  readonly #options: ConnectionOptions;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #callbacks: OnConnect[] = [];
  #current: NatsConnection | null = null;
  #isUp = false;
  #isFailureLogged = false;
  #logSilentUntil = 0;

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
      // A stack trace for each request costs more than the rest of a publication.
      noAsyncTraces: true,
      // While a password is being changed, authentication fails only for a moment.
      ignoreAuthErrorAbort: true,
    };
    this.#log = log;
  }

  get connection(): NatsConnection | null {
    return this.#isUp ? this.#current : null;
  }

  onConnect(callback: OnConnect): void {
    this.#callbacks.push(callback);
    if (this.connection !== null) this.#call(callback, this.connection);
  }

  /** Connects again whenever the client has ended its connection, until closed. */
  async keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const connection = await connect(this.#options);
        this.#current = connection;
        // `close` may have been called while connecting.
        if (signal.aborted) await connection.close();
        else await this.#use(connection);
      } catch (err) {
        this.#log[this.#isFailureLogged ? 'debug' : 'warn']({ err }, 'cannot connect to NATS; trying again');
        this.#isFailureLogged = true;
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
    // Not awaited: the client never ends this iteration, also when the connection is closed.
    void this.#follow(connection);
    this.#up(connection);
    const err = await connection.closed();
    if (!this.#closing.signal.aborted) this.#log.warn({ err }, 'the connection to NATS ended');
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type, data } of connection.status()) {
      if (type === Events.Disconnect) this.#down();
      else if (type === Events.Reconnect) this.#up(connection);
      // The user has no right to publish or receive a subject: its rights on the server differ from infra/nats.
      else if (type === Events.Error) this.#warnOfRefusal(data);
    }
  }

  /** Each message that a service may not publish is refused, possibly hundreds a second. */
  #warnOfRefusal(refused: unknown): void {
    const isLogged = performance.now() < this.#logSilentUntil;
    this.#log[isLogged ? 'debug' : 'warn']({ refused }, 'NATS refused a message or subscription');
    if (!isLogged) this.#logSilentUntil = performance.now() + REFUSAL_LOGGED_EVERY_MS;
  }

  #up(connection: NatsConnection): void {
    this.#isUp = true;
    this.#isFailureLogged = false;
    this.#log.info({ server: connection.getServer() }, 'connected to NATS');
    this.#setReady();
    for (const callback of this.#callbacks) this.#call(callback, connection);
  }

  #down(): void {
    if (this.#isUp) this.#log.warn('lost the connection to NATS');
    this.#isUp = false;
  }

  #call(callback: OnConnect, connection: NatsConnection): void {
    try {
      callback(connection);
    } catch (err) {
      this.#log.error({ err }, 'could not use the connection to NATS');
    }
  }
}

/**
 * While a new password replaces that of a user, a process knows both, and a server accepts one of them. An attempt to connect that had
 * no success is followed by one with the other password, so the password may change at any time.
 */
class Credentials {
  readonly #all: readonly Auth[];
  #at = 0;
  #isAccepted = true;

  constructor(urls: readonly string[], otherPassword: string | undefined) {
    const { user, password } = userOf(urls);
    const passwords = otherPassword === undefined || user === '' ? [password] : [password, otherPassword];
    // An address with a user alone has a token, which the other password replaces.
    if (user === '') this.#all = [undefined];
    else if (password === '') this.#all = [user, ...passwords.slice(1)].map((token) => ({ auth_token: token }));
    else this.#all = passwords.map((pass) => ({ user, pass }));
  }

  /** For the next attempt. */
  next(): Auth {
    if (!this.#isAccepted) this.#at = (this.#at + 1) % this.#all.length;
    this.#isAccepted = false;
    return this.#all[this.#at];
  }

  accepted(): void {
    this.#isAccepted = true;
  }
}

/** The options of the NATS client, which reads neither credentials nor `tls:` from an address. */
export function natsConnectionOptions(urls: readonly string[]): ConnectionOptions {
  const credentials = new Credentials(urls, undefined);
  return { ...serversOf(urls), authenticator: () => credentials.next() };
}

/** A user may receive replies in its own inbox only. */
function serversOf(urls: readonly string[]): ConnectionOptions {
  const { user, password } = userOf(urls);
  return {
    servers: urls.map((url) => new URL(url).host),
    ...(user === '' || password === '' ? {} : { inboxPrefix: natsInbox(user) }),
    ...(urls[0]?.startsWith('tls:') ? { tls: {} } : {}),
  };
}

function userOf([first = 'nats:']: readonly string[]): { readonly user: string; readonly password: string } {
  const { username, password } = new URL(first);
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}
