import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe as subscribeToChannel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, Events, type Auth, type ConnectionOptions, type Msg, type NatsConnection } from 'nats';
import { natsInbox } from '@wts/contracts';
import { seldomWarning } from '@wts/log/logger';
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
  /** Called immediately when connected, and with each later connection. */
  readonly onConnect: (callback: OnConnect) => void;
}

/** At least, and at most twice as long, so that not all processes come at once. */
const RETRY_MS = 250;
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
  return { connection: () => link.connection, ready: link.ready, onConnect: (callback) => link.onConnect(callback) };
}

/** Subscribes on every connection. */
export function subscribe(nats: Pick<Nats, 'onConnect'>, subject: string, onMessage: (message: Msg) => void): void {
  nats.onConnect((connection) => {
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) onMessage(message);
      },
    });
  });
}

/**
 * Connects anew whenever a connection ended. The client's own reconnecting is off, because an attempt that took longer than
 * CONNECT_TIMEOUT_MS leaves its socket open: when the server closes that, minutes after a server or a network that hung, the client
 * takes it for the end of the connection that it made meanwhile. It makes another one, keeps both, receives each message twice and
 * answers the pings of one of them alone, until the server ends the other with 'Stale Connection', and all this happens again.
 */
class ReconnectingLink {
  readonly ready: Promise<void>;
  readonly #setReady: () => void;
  readonly #options: ConnectionOptions;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #callbacks: OnConnect[] = [];
  #current: NatsConnection | null = null;
  #isFailureLogged = false;
  /** Each message that a service may not publish is refused, possibly hundreds a second. */
  readonly #warnOfRefusal: (fields: object) => void;

  constructor(options: ConnectionOptions, log: Logger) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#setReady = resolve;
    this.#options = {
      ...options,
      timeout: CONNECT_TIMEOUT_MS,
      reconnect: false,
      pingInterval: PING_MS,
      maxPingOut: 2,
      // A stack trace for each request costs more than the rest of a publication.
      noAsyncTraces: true,
    };
    this.#log = log;
    this.#warnOfRefusal = seldomWarning(
      log,
      'NATS refused a message or subscription: the rights of the user differ from infra/nats/users.conf of this version',
    );
  }

  get connection(): NatsConnection | null {
    return this.#current?.isClosed() === false ? this.#current : null;
  }

  onConnect(callback: OnConnect): void {
    this.#callbacks.push(callback);
    if (this.connection !== null) this.#call(callback, this.connection);
  }

  async keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const connection = await connectOnce(this.#options);
        // `close` may have been called while connecting.
        if (signal.aborted) await connection.close();
        else await this.#use(connection);
      } catch (err) {
        this.#log[this.#isFailureLogged ? 'debug' : 'warn'](
          { err, servers: this.#options.servers },
          'cannot connect to NATS; trying again without another line. Check that it runs, and NATS_URL',
        );
        this.#isFailureLogged = true;
      }
      await sleep(RETRY_MS * (1 + Math.random()), undefined, { signal }).catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#current?.close();
  }

  async #use(connection: NatsConnection): Promise<void> {
    const server = connection.getServer();
    this.#current = connection;
    // Not awaited: the client never ends this iteration, also when the connection is closed.
    void this.#follow(connection);
    this.#isFailureLogged = false;
    this.#log.info({ server }, 'connected to NATS');
    this.#setReady();
    for (const callback of this.#callbacks) this.#call(callback, connection);
    const ended = await connection.closed();
    // The words of the server, such as 'Stale Connection', when it gave a reason.
    const reason = ended instanceof Error ? ended.message : 'none given: the server or the network to it is gone';
    if (!this.#closing.signal.aborted)
      this.#log.warn(
        { server, reason },
        'the connection to NATS ended; connecting again. If this repeats, look at the log of that server',
      );
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type, permissionContext } of connection.status()) {
      // Of other errors the server closes the connection, and `closed` has its words.
      if (type !== Events.Error || permissionContext === undefined) continue;
      const { operation, subject } = permissionContext;
      this.#warnOfRefusal({ operation, subject });
    }
  }

  #call(callback: OnConnect, connection: NatsConnection): void {
    try {
      callback(connection);
    } catch (err) {
      this.#log.error({ err }, 'could not use the connection to NATS');
    }
  }
}

/** An attempt to connect, and what it opened; null when it is over. */
interface Attempt {
  opened: Socket[] | null;
}

const attempts = new AsyncLocalStorage<Attempt>();
subscribeToChannel('net.client.socket', (message) => {
  attempts.getStore()?.opened?.push((message as { readonly socket: Socket }).socket);
});

/** Tries each server once. Of its sockets only that of the connection stays open, because a server that hangs would collect the others. */
async function connectOnce(options: ConnectionOptions): Promise<NatsConnection> {
  const opened: Socket[] = [];
  const attempt: Attempt = { opened };
  try {
    const connection = await attempts.run(attempt, () => connect(options));
    // An address that refuses after its greeting ends the client, which goes on to the other addresses of that name all the same.
    if (connection.isClosed()) throw new Error('an address of the server refused the connection');
    // Servers are tried one after the other, so the last socket is that of the connection.
    opened.pop();
    return connection;
  } finally {
    attempt.opened = null;
    for (const socket of opened) socket.destroy();
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
