import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Readiness } from '../observe/readiness.ts';
import { SetupError } from '../config/setup-error.ts';
import type { Logger } from '../observe/logger.ts';
import { connectClient } from './other-password.ts';
import { setUpSession } from './postgres.ts';

interface CheckOptions {
  readonly url: string;
  /** Shows in pg_stat_activity. */
  readonly applicationName: string;
  readonly log: Logger;
  readonly readiness: Readiness;
  /** Ends the checks of a server that is down. */
  readonly signal: AbortSignal;
  /** A sentence that an operator can act on, or null. While it rejects, as before the migrations, the server counts as down. */
  readonly refusal?: (client: Client) => Promise<string | null>;
}

const REPLY_MS = 3_000;
const RETRY_MS = 2_000;
/** A busy pooler may give the same backend twice by chance, but not this often. */
const ROUNDS = 3;

/**
 * Checks the server at the start: refuses a pooler that mixes sessions, and warns when records could get into the server's log.
 * Does not wait for a server that is down: that one is checked when it is up, and a refusal then makes the service unready until it
 * is restarted.
 */
export async function checkPostgres(options: CheckOptions): Promise<void> {
  const { log, readiness, signal } = options;
  if (await checkOnce(options)) return;
  const checkLater = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        if (signal.aborted || (await checkOnce(options))) return;
      } catch (failure) {
        readiness.fail('postgres', (failure as Error).message);
        return;
      }
    }
  };
  checkLater().catch((err: unknown) => log.error({ err }, 'PostgreSQL could not be checked'));
}

/** False when the server did not reply. */
async function checkOnce({ url, applicationName, log, refusal }: CheckOptions): Promise<boolean> {
  await using sessions = new AsyncDisposableStack();
  const open = async (): Promise<Client> => {
    const client = await openClient(url, applicationName);
    sessions.defer(() => client.end().catch(() => undefined));
    return client;
  };
  try {
    const one = await open();
    await refuseMixedSessions(one, await open());
    await warnOfLogging(one, log);
    const sentence = (await refusal?.(one)) ?? null;
    if (sentence !== null) throw new SetupError(sentence);
    return true;
  } catch (failure) {
    if (failure instanceof SetupError) throw failure;
    log.debug({ err: failure }, 'PostgreSQL was down and could not be checked');
    return false;
  }
}

function openClient(connectionString: string, applicationName: string): Promise<Client> {
  return connectClient({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: REPLY_MS,
    query_timeout: REPLY_MS,
  });
}

/**
 * Throws when two connections share sessions of the server, as behind a pooler that gives each transaction, or each statement, any
 * free session: settings, prepared statements and advisory locks of one connection would then apply to another. A connection with
 * its own session always has the same process of the server, and no other connection has it.
 *
 * A pooler takes the session that was used last, which then serves both connections, or the next in order, which then serves two
 * statements in a row of one connection differently. The connections do not simply alternate, because with two sessions in order
 * each would always get the same one. A round may be without result while the pooler opens another session, so there are several.
 */
export async function refuseMixedSessions(one: Client, other: Client): Promise<void> {
  await Promise.all([setUpSession(one), setUpSession(other)]);
  const own = await backendOf(one);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const again of [await backendOf(one), await backendOf(one)]) if (again !== own) throw mixedSessions();
    if ((await backendOf(other)) === own) throw mixedSessions();
  }
}

function mixedSessions(): SetupError {
  return new SetupError(
    'DATABASE_URL leads to a pooler that mixes sessions (PgBouncer: pool_mode = transaction or statement), and commits and migrations need sessions of their own. ' +
      'Set pool_mode = session for this database, or name PostgreSQL itself; see infra/postgres/README.md.',
  );
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** The settings that keep records out of the server's log, as infra/postgres/roles.sql sets them for each role. */
const LOGGING = `select name, setting from pg_settings
  where name in ('log_min_messages', 'log_min_error_statement', 'log_statement', 'log_min_duration_statement')`;

/** Logged statements would contain records, also of other people than the one whose change failed. */
async function warnOfLogging(client: Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ name: string; setting: string }>(LOGGING);
  const current = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  if (keepsRecordsOut(current)) return;
  log.warn(
    { inForce: current },
    'the log of PostgreSQL may contain records: run infra/postgres/roles.sql as a superuser, or have log_min_messages = fatal and log_min_error_statement = panic set for this role',
  );
}

/** Whether no failed and no slow statement is logged with its values. Keeps never.logs.postgres. */
function keepsRecordsOut(settings: Readonly<Record<string, string>>): boolean {
  if (settings['log_min_error_statement'] !== 'panic') return false;
  const level = settings['log_min_messages'] ?? '';
  // `fatal` is the end of a session. An `error` contains the wrong value.
  if (['fatal', 'panic'].includes(level)) return true;
  return level === 'log' && settings['log_statement'] === 'none' && settings['log_min_duration_statement'] === '-1';
}
