import type { Pool, PoolClient } from 'pg';
import { PLANS } from './prepared.ts';

/** How connections are opened that commit. */
export const COMMITTING = { settings: PLANS, pipeline: true } as const;

/** Ends a transaction that failed. What is returned says that the connection is not to be used again. */
async function end(client: PoolClient): Promise<Error | undefined> {
  return client.query('rollback').then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
}

/** A transaction on a connection of its own. */
export async function alone<T>(pool: Pool, transaction: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await transaction(client);
  } catch (error) {
    // Given back with its transaction open, its next user would be inside it.
    broken = await end(client);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * One connection for transactions of a single message each, which are sent without waiting for the one before: PostgreSQL
 * goes from one to the next at once, and in the order they were sent.
 */
export class Line {
  readonly #pool: Pool;
  #client: Promise<PoolClient> | null = null;
  #broken: Error | undefined;
  #users = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Transactions on their way. */
  get length(): number {
    return this.#users;
  }

  async run<T>(transaction: (client: PoolClient) => Promise<T>): Promise<T> {
    this.#users += 1;
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
      this.#users -= 1;
      if (this.#users === 0) {
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
