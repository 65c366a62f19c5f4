import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg';
import type { Caller } from '../context.ts';
import { StatementNames } from './statement-names.ts';

/** The connections to one server. */
export interface Server {
  readonly pool: Pool;
  /** A few connections that only cancel, because those of `pool` may all wait for statements that nobody needs. */
  readonly cancelPool: Pool;
}

/**
 * Runs the statements of requests. When the signal of a request aborts, because its client has disconnected or its deadline has
 * passed, a statement that waits for a connection never runs, and a running one is cancelled in PostgreSQL.
 * Keeps graphql.limit.deadline.
 */
export class Statements {
  readonly #cancelPools: ReadonlyMap<Pool, Pool>;
  readonly #names = new StatementNames();

  constructor(servers: readonly Server[]) {
    this.#cancelPools = new Map(servers.map(({ pool, cancelPool }) => [pool, cancelPool]));
  }

  /** The rows of one statement, which is prepared when it is frequent. Rejects with the reason of the signal when it aborts. */
  async rows<Row extends QueryResultRow>(
    { signal }: Pick<Caller, 'signal'>,
    pool: Pool,
    query: QueryConfig,
  ): Promise<Row[]> {
    signal.throwIfAborted();
    const name = this.#names.nameOf(query.text);
    const prepared = name === undefined ? query : { ...query, name };
    const client = await pool.connect();
    const isCurrent = this.#names.isCurrent(client);
    let cancelled: Promise<unknown> | undefined;
    let broken: Error | undefined;
    const cancel = (): void => {
      cancelled = this.#cancel(pool, client);
    };
    try {
      signal.throwIfAborted();
      // Sent before the first statement of a connection, so that it does not wait behind it.
      const known = backends.has(client) ? undefined : backendOf(client);
      signal.addEventListener('abort', cancel, { once: true });
      const [{ rows }] = await Promise.all([client.query<Row>(prepared), known]);
      return rows;
    } catch (error) {
      if (isOfConnection(error)) broken = error as Error;
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', cancel);
      // A late cancel request would cancel the next statement.
      if (cancelled !== undefined) await cancelled;
      client.release(broken ?? !isCurrent);
    }
  }

  async #cancel(pool: Pool, client: PoolClient): Promise<void> {
    try {
      await this.#cancelPools.get(pool)?.query('select pg_cancel_backend($1)', [await backendOf(client)]);
    } catch {
      // The timeout of the connection ends the statement.
    }
  }
}

/** The process id of each connection's backend: behind a pooler, pg has the pooler's number. */
const backends = new WeakMap<PoolClient, Promise<number>>();

function backendOf(client: PoolClient): Promise<number> {
  const known = backends.get(client);
  if (known !== undefined) return known;
  const backend = client.query<{ pid: number }>('select pg_backend_pid() as pid').then(({ rows }) => rows[0]?.pid ?? 0);
  backends.set(client, backend);
  backend.catch(() => backends.delete(client));
  return backend;
}

/** An error of the server has a severity; after any other one the connection may be in any state. */
function isOfConnection(error: unknown): boolean {
  return !(error instanceof Error && 'severity' in error);
}
