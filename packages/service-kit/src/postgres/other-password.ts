import { callbackify } from 'node:util';
import { Client, Pool, type ClientConfig, type PoolClient } from 'pg';
import { acceptedUrl, passwordsOf } from '../config/database-passwords.ts';

/** One for each password, and one for a connection that began before another one learned which works. */
const TRIES_MAX = 3;

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
  if (passwordsOf(url) === undefined) return new Pool(config);
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
      const passwords = passwordsOf(url);
      if (passwords === undefined || tries === TRIES_MAX || !isPasswordRefused(failure)) throw failure;
      passwords.refused(tried);
    }
  }
}

function isPasswordRefused(failure: unknown): boolean {
  return (failure as { readonly code?: unknown }).code === '28P01';
}
