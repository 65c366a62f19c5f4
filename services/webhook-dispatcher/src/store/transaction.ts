import type { Pool, PoolClient } from 'pg';

/** Commits what `work` does, or nothing of it. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isDone = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    isDone = true;
    return result;
  } finally {
    // The transaction of a connection that is closed ends with it.
    client.release(!isDone);
  }
}
