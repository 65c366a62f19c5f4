import { callbackify } from 'node:util';
import { Client, Pool, type ClientConfig, type PoolClient } from 'pg';

/**
 * While a new password replaces that of a role, a process knows both, and the server accepts one of them: the process connects with
 * the one that worked last, and with the other when the server refuses it. So the password of the role may change at any time,
 * without a failed request. Open connections stay open.
 */
class TwoPasswords {
  #url: string;
  #other: string;

  constructor(url: string, otherPassword: string) {
    this.#url = url;
    const other = new URL(url);
    other.password = encodeURIComponent(otherPassword);
    this.#other = other.href;
  }

  get url(): string {
    return this.#url;
  }

  /** The server refused the password of `url`. Does nothing when another connection has learned it before. */
  refused(url: string): void {
    if (url === this.#url) [this.#url, this.#other] = [this.#other, this.#url];
  }
}

/** By the address of the settings: all connections of the process learn from each other which password works. */
const byUrl = new Map<string, TwoPasswords>();
/** One for each password, and one for a connection that began before another one learned which works. */
const TRIES_MAX = 3;

/** The addresses may be those of several servers with the same role, such as a replica. */
export function setOtherPassword(urls: readonly (string | undefined)[], password: string | undefined): void {
  if (password === undefined) return;
  for (const url of urls) if (url !== undefined) byUrl.set(url, new TwoPasswords(url, password));
}

/** The address with the password that worked last. */
export function acceptedUrl(url: string): string {
  return byUrl.get(url)?.url ?? url;
}

/** A client that is connected. When its connection ends later, its queries reject, also without a listener for errors. */
export async function connectClient(config: ClientConfig & { readonly connectionString: string }): Promise<Client> {
  const { connectionString: url } = config;
  return withPassword(url, async () => {
    const client = new Client({ ...config, connectionString: acceptedUrl(url) });
    // The server can end the session in the same packet in which it begins, before the caller listens.
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (failure) {
      client.end().catch(() => undefined);
      throw failure;
    }
    return client;
  });
}

/** The pool of an address, which also connects with its other password when there is one. */
export function openPool(config: ConstructorParameters<typeof Pool>[0] & { readonly connectionString: string }): Pool {
  const { connectionString: url } = config;
  if (!byUrl.has(url)) return new Pool(config);
  class AcceptedClient extends Client {
    constructor(given: ClientConfig = {}) {
      super({ ...given, connectionString: acceptedUrl(url) });
    }
  }
  return new TwoPasswordPool(url, { ...config, Client: AcceptedClient });
}

type OnClient = Parameters<Pool['connect']>[0];

class TwoPasswordPool extends Pool {
  readonly #url: string;

  constructor(url: string, config: ConstructorParameters<typeof Pool>[0]) {
    super(config);
    this.#url = url;
  }

  // Queries of the pool connect by this method too.
  override connect(): Promise<PoolClient>;
  override connect(callback: OnClient): void;
  override connect(callback?: OnClient): Promise<PoolClient> | void {
    const connect = (): Promise<PoolClient> => withPassword(this.#url, () => super.connect());
    if (callback === undefined) return connect();
    callbackify(connect)((failure, client) =>
      callback(failure ?? undefined, client, (destroy: Error | boolean | undefined) => client?.release(destroy)),
    );
  }
}

async function withPassword<C>(url: string, connect: () => Promise<C>): Promise<C> {
  for (let tries = 1; ; tries += 1) {
    const tried = acceptedUrl(url);
    try {
      return await connect();
    } catch (failure) {
      const passwords = byUrl.get(url);
      if (passwords === undefined || tries === TRIES_MAX || !isPasswordRefused(failure)) throw failure;
      passwords.refused(tried);
    }
  }
}

function isPasswordRefused(failure: unknown): boolean {
  return (failure as { readonly code?: unknown }).code === '28P01';
}
