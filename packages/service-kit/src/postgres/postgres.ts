import { createRequire } from 'node:module';
import { seldomWarning } from '@wts/log/logger';
import type KnexModule from 'knex';
import type { Knex } from 'knex';
import type { ClientBase, Pool, PoolConfig } from 'pg';
import type { Registry } from 'prom-client';
import type { Readiness } from '../observe/readiness.ts';
import type { Logger } from '../observe/logger.ts';
import { knexLog } from './knex-log.ts';
import { watchPool } from './metrics.ts';
import { openPool } from './other-password.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Shows in pg_stat_activity. */
  readonly applicationName: string;
  /** Settings of PostgreSQL for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Statements are sent without waiting for the result of the previous one. */
  readonly pipeline?: boolean;
  /** Timeout of connecting and of statements, for a server that is not essential. */
  readonly timeoutMs?: number;
  readonly log: Logger;
  /** Of the service, to show the pool. */
  readonly metrics?: Registry;
  /** Closes the pool with the service. */
  readonly stack: AsyncDisposableStack;
  /** Adds the check `postgres`. */
  readonly readiness?: Readiness;
}

export interface Postgres {
  readonly pool: Pool;
  /** Created at its first use; shares the pool. */
  readonly knex: Knex;
  /** Resolves when the database replies. */
  ping(signal?: AbortSignal): Promise<void>;
}

/** The lock timeout of every session, to restore it after another one. */
export const LOCK_TIMEOUT = '5s';

/**
 * Settings of every session: bound the time that a statement, a lock or a forgotten transaction blocks others, and compile no
 * statement, because all of them are short. The roles have the same defaults (infra/postgres/roles.sql). A statement sets them and
 * not the connection, because poolers refuse connection parameters that they do not support.
 */
const SESSION = {
  statement_timeout: '15s',
  lock_timeout: LOCK_TIMEOUT,
  idle_in_transaction_session_timeout: '10s',
  jit: 'off',
} as const;

const TIMEOUTS = {
  /** The client side of statement_timeout, for a lost network. */
  query_timeout: 20_000,
  connectionTimeoutMillis: 3_000,
  idleTimeoutMillis: 30_000,
} as const satisfies PoolConfig;

/**
 * The connections of one service. Opening never fails and never waits: while PostgreSQL is down, queries fail with errors that
 * render as `unavailable`, and when it is back they work. A dead connection is removed when it is detected, so right after a restart
 * one query per connection may still fail.
 */
export function openPostgres(options: PostgresOptions): Postgres {
  const { url, poolMax, applicationName, settings = {}, pipeline = false, timeoutMs } = options;
  const { log, metrics, stack, readiness } = options;
  const pool = openPool({
    connectionString: url,
    max: poolMax,
    application_name: applicationName,
    // The pool awaits it, which its types lack.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect: (client) => setUpSession(client, settings),
    pipeline,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...TIMEOUTS,
    ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs, connectionTimeoutMillis: timeoutMs }),
  });
  // A server that ends takes all idle connections at once.
  const warnOfLost = seldomWarning(
    log,
    'lost an idle connection to PostgreSQL; the next statement connects again. Unless it was restarted, look at its log',
  );
  // Without a listener, the event would end the process.
  pool.on('error', (err) => warnOfLost({ err, pool: applicationName }));
  // The same of a connection in use between two statements; the next statement rejects.
  pool.on('connect', (client) => {
    client.on('error', (err) => log.debug({ err }, 'lost a connection to PostgreSQL'));
  });
  if (metrics !== undefined) watchPool(metrics, applicationName, { pool, max: poolMax });
  let knex: Knex | undefined;
  stack.defer(async () => {
    await knex?.destroy();
    await pool.end();
  });
  const ping = async (): Promise<void> => {
    await pool.query('select 1');
  };
  readiness?.add('postgres', ping);
  return {
    pool,
    ping,
    get knex() {
      knex ??= openKnex(pool, log);
      return knex;
    },
  };
}

/** Sets the settings of a new session, in one message. */
export async function setUpSession(client: ClientBase, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const all = Object.entries({ ...SESSION, ...settings });
  await client.query(all.map(([name, value]) => `set ${name} = '${value}'`).join(';'));
}

/** Loading knex takes 100 ms and 30 MB, so it is loaded only for a service that uses it. */
function openKnex(pool: Pool, log: Logger): Knex {
  const { knex } = createRequire(import.meta.url)('knex') as typeof KnexModule;
  return knex({
    client: 'pg',
    connectionPool: pool,
    // Without this, knex writes statements and their parameters into error messages.
    compileSqlOnError: false,
    log: knexLog(log),
  });
}
