import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';

/** PostgreSQL ignores a cancel request that arrives before the statement, so it is sent again until the statement has ended. */
const AGAIN_MS = 50;

/** The process id of each connection's backend: behind a pooler, pg has the pooler's number. */
const backends = new WeakMap<PoolClient, Promise<number>>();

export function backendOf(client: PoolClient): Promise<number> {
  const known = backends.get(client);
  if (known !== undefined) return known;
  const backend = client.query<{ pid: number }>('select pg_backend_pid() as pid').then(({ rows }) => rows[0]?.pid ?? 0);
  backends.set(client, backend);
  backend.catch(() => backends.delete(client));
  return backend;
}

/** True while the process id of the backend is known, or on its way. */
export function isBackendKnown(client: PoolClient): boolean {
  return backends.has(client);
}

/**
 * From the abort of the signal until the result is disposed of, cancels what the connection runs, by connections of `pool`. It must
 * be disposed of before the connection is given back, because a late cancel request would cancel the next statement.
 */
export function cancelOnAbort(client: PoolClient, pool: Pool, signal: AbortSignal): AsyncDisposable {
  const ended = new AbortController();
  let cancelled: Promise<void> | undefined;
  const onAbort = (): void => {
    cancelled = cancelUntil(ended.signal, client, pool);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', onAbort);
      ended.abort();
      await cancelled;
    },
  };
}

async function cancelUntil(ended: AbortSignal, client: PoolClient, pool: Pool): Promise<void> {
  try {
    const backend = await backendOf(client);
    while (!ended.aborted) {
      await pool.query('select pg_cancel_backend($1)', [backend]);
      await sleep(AGAIN_MS, undefined, { signal: ended });
    }
  } catch {
    // The statement has ended, or the timeouts of its connection end it.
  }
}
