import { createRequire } from 'node:module';
import type KnexModule from 'knex';
import type { Knex } from 'knex';
import { Pool } from 'pg';
import type { ClientBase, PoolConfig } from 'pg';
import type { Readiness } from '../life/readiness.ts';
import type { Logger } from '../observe/logger.ts';
import { knexLog } from './knex-log.ts';

interface PostgresOptions {
  readonly url: string;
  readonly poolMax: number;
  /** Shows in pg_stat_activity. */
  readonly applicationName: string;
  /** Settings of PostgreSQL for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Statements are sent without waiting for the answer to the one before; whoever shares a connection has to bear that. */
  readonly pipeline?: boolean;
  /** For a server one can do without: connecting and short answers are waited for no longer than this. */
  readonly patienceMs?: number;
  readonly log: Logger;
  /** Closes the pool with the service. */
  readonly stack: AsyncDisposableStack;
  /** Adds the check `postgres`. */
  readonly readiness?: Readiness;
}

export interface Postgres {
  readonly pool: Pool;
  /** Made when first asked for; shares the pool. */
  readonly knex: Knex;
  /** Resolves when the database answers. */
  ping(signal?: AbortSignal): Promise<void>;
}

/** Where another bound was in force for a while, this one comes back. */
export const LOCK_TIMEOUT = '5s';

/**
 * Of every session: no statement, no lock and no forgotten transaction holds others up for longer, and no statement is
 * compiled, because all of them are short. The roles have the same as their defaults (infra/postgres/roles.sql). They are
 * set by a statement and not when connecting, because poolers refuse parameters of a connection that they do not know.
 */
const SESSION = {
  statement_timeout: '15s',
  lock_timeout: LOCK_TIMEOUT,
  idle_in_transaction_session_timeout: '10s',
  jit: 'off',
} as const;

const TIMEOUTS = {
  /** Our side of statement_timeout: holds when the network is gone and no answer will ever come. */
  query_timeout: 20_000,
  connectionTimeoutMillis: 3_000,
  idleTimeoutMillis: 30_000,
} as const satisfies PoolConfig;

/**
 * The connections of one service. Opening never fails and never waits: while PostgreSQL is away, queries fail with errors
 * that render as `unavailable`, and when it is back they work. Connections that died are forgotten
 * as they are noticed, so right after a restart one query per connection may still fail.
 */
export function openPostgres(options: PostgresOptions): Postgres {
  const { url, poolMax, applicationName, settings = {}, pipeline = false, patienceMs, log, stack, readiness } = options;
  const pool = new Pool({
    connectionString: url,
    max: poolMax,
    application_name: applicationName,
    // The pool waits for it, which its types do not say.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect: (client) => setUp(client, settings),
    pipeline,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...TIMEOUTS,
    ...(patienceMs === undefined ? {} : { query_timeout: patienceMs, connectionTimeoutMillis: patienceMs }),
  });
  // Idle connections die with the server. Unheard, that event would end the process.
  pool.on('error', (err) => log.warn({ err }, 'lost an idle connection to PostgreSQL'));
  // So would that of a connection that is in use but between two statements; whoever uses it is told by the next one.
  pool.on('connect', (client) => {
    client.on('error', (err) => log.debug({ err }, 'lost a connection to PostgreSQL'));
  });
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

/** The settings of a session that was just opened, in one message. */
export async function setUp(client: ClientBase, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const all = Object.entries({ ...SESSION, ...settings });
  await client.query(all.map(([name, value]) => `set ${name} = '${value}'`).join(';'));
}

/** knex costs 100 ms and 30 MB to load, so only a service that asks for it loads it. */
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
