import type { Pool, PoolClient } from 'pg';

/** Explicit, because at any other level a wait for a lock would end in an error and not in the newer row. */
export const BEGIN = 'begin isolation level read committed';

export const COMMIT = 'commit';

export const ROLLBACK = 'rollback';

/** How long each statement of the rest of this transaction waits for a lock: a PostgreSQL interval such as `200ms`. */
export const waitForLocks = (interval: string): string => `set local lock_timeout = '${interval}'`;

/** Ends a transaction that failed. An error that it returns means that the connection must not be used again. */
export async function rollBack(client: PoolClient): Promise<Error | undefined> {
  return client.query(ROLLBACK).then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
}

/** Statements of work that is not a commit of changes. */
export async function inTransaction<T>(pool: Pool, run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(BEGIN);
    const result = await run(client);
    await client.query(COMMIT);
    return result;
  } catch (error) {
    broken = await rollBack(client);
    throw error;
  } finally {
    client.release(broken);
  }
}
