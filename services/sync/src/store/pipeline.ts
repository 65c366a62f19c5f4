import { backendOf, cancelOnAbort } from '@wts/service-kit/postgres';
import type { Pool, PoolClient } from 'pg';
import { PLANS } from './prepared.ts';
import { rollBack } from './transaction.ts';

/** Options of the connections that commit. */
export const COMMITTING = { settings: PLANS, pipeline: true } as const;

/** The transaction that PostgreSQL runs, and the next. */
const TRANSACTIONS_MAX = 2;

/**
 * A transaction on a connection of its own. When the signal aborts, its current statement is cancelled: the transaction fails,
 * unless PostgreSQL already runs its COMMIT.
 */
export async function ownTransaction<T>(
  pool: Pool,
  transaction: (client: PoolClient) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let cancelling: AsyncDisposable | undefined;
  try {
    await backendOf(client);
    signal.throwIfAborted();
    cancelling = cancelOnAbort(client, pool, signal);
    return await transaction(client);
  } catch (error) {
    await cancelling?.[Symbol.asyncDispose]();
    // Returned with an open transaction, the connection would run the next one inside it.
    broken = await rollBack(client);
    throw error;
  } finally {
    await cancelling?.[Symbol.asyncDispose]();
    client.release(broken);
  }
}

/**
 * One connection for transactions of a single message each, which are sent without waiting for the one before: PostgreSQL runs
 * them in the order they were sent, without a pause between.
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
        // Transactions sent already fail inside the failed one; those sent from now on follow its rollback.
        this.#broken = (await rollBack(client)) ?? this.#broken;
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
