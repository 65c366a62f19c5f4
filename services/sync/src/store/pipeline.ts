import type { Pool, PoolClient } from 'pg';
import { PLANS } from './prepared.ts';

/** How connections are opened that commit. */
export const COMMITTING = { settings: PLANS, pipeline: true } as const;

/** Transactions in the pipeline: the one that PostgreSQL works on, and the next. */
const TRANSACTIONS_MAX = 2;

/** Ends a transaction that failed. What is returned says that the connection is not to be used again. */
async function end(client: PoolClient): Promise<Error | undefined> {
  return client.query('rollback').then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
}

/**
 * A transaction on a connection of its own. When the signal aborts, what PostgreSQL is doing for it is cancelled: the
 * transaction fails, unless its COMMIT was already being carried out.
 */
export async function ownTransaction<T>(
  pool: Pool,
  transaction: (client: PoolClient) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let cancelled: Promise<unknown> | undefined;
  const cancel = (): void => {
    cancelled = backendOf(client)
      .then((backend) => pool.query('select pg_cancel_backend($1)', [backend]))
      // Without it, the timeouts of the connection end what is under way.
      .catch(() => undefined);
  };
  try {
    await backendOf(client);
    signal.throwIfAborted();
    signal.addEventListener('abort', cancel, { once: true });
    return await transaction(client);
  } catch (error) {
    signal.removeEventListener('abort', cancel);
    // Sent later than the next statement, it would cancel that one.
    await cancelled;
    // Given back with its transaction open, its next user would be inside it.
    broken = await end(client);
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    await cancelled;
    client.release(broken);
  }
}

/** By which number PostgreSQL knows a connection; a pooler between gives it another. */
const backends = new WeakMap<PoolClient, Promise<number>>();

async function backendOf(client: PoolClient): Promise<number> {
  let backend = backends.get(client);
  if (!backend) {
    backend = client.query<{ pid: number }>('select pg_backend_pid() as pid').then(({ rows }) => rows[0]?.pid ?? 0);
    backends.set(client, backend);
    backend.catch(() => backends.delete(client));
  }
  return backend;
}

/**
 * One connection for transactions of a single message each, which are sent without waiting for the one before: PostgreSQL
 * goes from one to the next at once, and in the order they were sent.
 */
export class Pipeline {
  readonly #pool: Pool;
  #client: Promise<PoolClient> | null = null;
  #broken: Error | undefined;
  #underWay = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  get hasRoom(): boolean {
    return this.#underWay < TRANSACTIONS_MAX;
  }

  async run<T>(transaction: (client: PoolClient) => Promise<T>): Promise<T> {
    this.#underWay += 1;
    const connected = (this.#client ??= this.#pool.connect());
    try {
      const client = await connected;
      try {
        return await transaction(client);
      } catch (error) {
        // What is on its way behind fails inside the transaction that failed; what is sent from now on comes after its end.
        this.#broken = (await end(client)) ?? this.#broken;
        throw error;
      }
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) {
        const broken = this.#broken;
        this.#client = null;
        this.#broken = undefined;
        await connected.then(
          (client) => client.release(broken),
          () => undefined,
        );
      }
    }
  }
}
