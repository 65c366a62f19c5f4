import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Readiness } from '../life/readiness.ts';
import { SetupError } from '../life/setup-error.ts';
import type { Logger } from '../observe/logger.ts';
import { setUp } from './postgres.ts';

interface ExamineOptions {
  readonly url: string;
  /** Shows in pg_stat_activity. */
  readonly applicationName: string;
  readonly log: Logger;
  readonly readiness: Readiness;
  /** Ends the waiting for a server that is away. */
  readonly signal: AbortSignal;
}

const ANSWER_MS = 3_000;
const RETRY_MS = 2_000;
/** A pooler with other work may by chance give the same backend again; not so often. */
const ROUNDS = 3;

/**
 * Looks at the server before it is relied on: a pooler that mixes sessions is refused, and what would let records into the
 * server's log is said. A server that is away is not waited for; it is examined when it comes, and then a refusal makes the
 * service unready for good.
 */
export async function checkPostgres(options: ExamineOptions): Promise<void> {
  const { log, readiness, signal } = options;
  if (await examineOnce(options)) return;
  const whenItComes = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        if (signal.aborted || (await examineOnce(options))) return;
      } catch (failure) {
        readiness.fail('postgres', (failure as Error).message);
        return;
      }
    }
  };
  whenItComes().catch((err: unknown) => log.error({ err }, 'PostgreSQL could not be examined'));
}

/** False when the server did not answer. */
async function examineOnce({ url, applicationName, log }: ExamineOptions): Promise<boolean> {
  const [one, other] = [openClient(url, applicationName), openClient(url, applicationName)];
  try {
    await Promise.all([one.connect(), other.connect()]);
    await refuseMixedSessions(one, other);
    await warnOfLogging(one, log);
    return true;
  } catch (failure) {
    if (failure instanceof SetupError) throw failure;
    log.debug({ err: failure }, 'PostgreSQL was not there to be examined');
    return false;
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => undefined)));
  }
}

function openClient(connectionString: string, applicationName: string): Client {
  const client = new Client({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  // Told by the query that is under way, or by the next one.
  client.on('error', () => undefined);
  return client;
}

/**
 * Throws when two connections share sessions of the server, as behind a pooler that gives each transaction, or each
 * statement, whatever session is free: settings, prepared statements and advisory locks of one would then be those of
 * another. A session of one's own has one process of the server, always the same, that no other connection has. A pooler
 * takes the session that was used last, or the next of a ring: either way a few turns tell.
 */
export async function refuseMixedSessions(one: Client, other: Client): Promise<void> {
  await Promise.all([setUp(one), setUp(other)]);
  const own = await backendOf(one);
  for (let round = 0; round < ROUNDS; round += 1) {
    const again = await backendOf(one);
    const others = await backendOf(other);
    if (again !== own || others === own) throw mixed();
  }
}

function mixed(): SetupError {
  return new SetupError(
    'DATABASE_URL leads to a pooler that mixes sessions (PgBouncer: pool_mode = transaction or statement), and commits and migrations need sessions of their own. ' +
      'Set pool_mode = session for this database, or name PostgreSQL itself; see infra/postgres/README.md.',
  );
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** What keeps records out of the server's log, as infra/postgres/roles.sql sets it for each role. */
const LOGGING = `select name, setting from pg_settings
  where name in ('log_min_messages', 'log_min_error_statement', 'log_statement', 'log_min_duration_statement')`;

/** Statements hold the texts of records, also of other people than the one whose change failed. */
async function warnOfLogging(client: Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ name: string; setting: string }>(LOGGING);
  const inForce = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  if (keepsRecordsOut(inForce)) return;
  log.warn(
    { inForce },
    'the log of PostgreSQL may be given the contents of records: run infra/postgres/roles.sql as a superuser, or have log_min_messages = fatal and log_min_error_statement = panic set for this role',
  );
}

/** Whether no failure and no slow statement of these sessions is written with a value in it. Keeps never.logs.postgres. */
function keepsRecordsOut(inForce: Readonly<Record<string, string>>): boolean {
  if (inForce['log_min_error_statement'] !== 'panic') return false;
  const written = inForce['log_min_messages'] ?? '';
  // What is fatal is the end of a session. An error names the value that is wrong.
  if (['fatal', 'panic'].includes(written)) return true;
  return written === 'log' && inForce['log_statement'] === 'none' && inForce['log_min_duration_statement'] === '-1';
}
