import { createHash } from 'node:crypto';
import knexFactory from 'knex';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import { SetupError } from '../config/setup-error.ts';
import type { Logger } from '../observe/logger.ts';
import { refuseMixedSessions } from '../postgres/check-postgres.ts';
import { knexLog } from '../postgres/knex-log.ts';
import { acceptedUrl } from '../config/database-passwords.ts';
import { listMigrations, loadMigration, type Migration } from './list-migrations.ts';
import { connect, numberOf, recordedNames, tableOf } from './recorded.ts';

interface MigrateOptions {
  readonly url: string;
  /** Folder of the migrations, `NNNN-verb-noun.ts`. */
  readonly directory: string;
  /** The schema of the service; created when it is missing and the role has the right. */
  readonly schema: string;
  readonly log: Logger;
  /** `down` undoes every migration; for tests. */
  readonly direction?: 'up' | 'down';
}

const LOCK_WAIT_MS = 60_000;
const VERSION_MIN = 150_000;

/**
 * Brings a service's schema up to date; returns the names of the migrations that ran. Any number of replicas may call it
 * concurrently: an advisory lock, held by a connection of its own so that it ends with the process, lets one of them work while the
 * others wait and then find nothing to do.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { url, directory, schema, log, direction = 'up' } = options;
  const guard = await connect(url, schema);
  try {
    await checkVersion(guard);
    // Before the lock: a lock left on a session of a pooler would block all later migrations.
    const other = await connect(url, schema);
    try {
      await refuseMixedSessions(guard, other);
    } finally {
      await other.end();
    }
    await guard.query(UNBOUND);
    await lock(guard, schema);
    await makeSchema(guard, schema);
    const migrations = await listMigrations(directory);
    await renameRecorded(guard, schema, migrations);
    refuseUnknown(await recordedNames(guard, schema), migrations);
    const knex = knexFactory({
      client: 'pg',
      connection: acceptedUrl(url),
      pool: {
        min: 0,
        max: 2,
        afterCreate: (client: Client, done: (failure: Error) => void) => client.query(UNBOUND, done),
      },
      compileSqlOnError: false,
      log: knexLog(log),
    });
    try {
      const names = await runAll(knex, schema, migrations, direction);
      log.info({ schema, direction, migrations: names }, names.length === 0 ? 'schema is up to date' : 'migrated');
      return names;
    } finally {
      await knex.destroy();
    }
  } finally {
    await guard.end();
  }
}

async function runAll(
  knex: Knex,
  schema: string,
  migrations: readonly Migration[],
  direction: 'up' | 'down',
): Promise<string[]> {
  const config = {
    migrationSource: sourceOf(migrations),
    schemaName: schema,
    tableName: 'migrations',
    // `refuseUnknown` did it, and allows those of a newer version.
    disableMigrationsListValidation: true,
  };
  // A killed migration leaves knex's own lock. Our lock is held now, so that one is stale.
  await knex.migrate.forceFreeMigrationsLock(config);
  const [, names] = (await (direction === 'up'
    ? knex.migrate.latest(config)
    : knex.migrate.rollback(config, true))) as [number, string[]];
  return names;
}

async function checkVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  const version = Number(rows[0]?.server_version_num);
  if (version >= VERSION_MIN) return;
  throw new SetupError(`PostgreSQL ${Math.floor(version / 10_000)} is too old; 15 or newer is needed.`);
}

/** A migration of a large table may take long; the timeouts of the roles are for the short statements of services. */
const UNBOUND = `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = ${LOCK_WAIT_MS}`;

async function lock(client: Client, schema: string): Promise<void> {
  const key = createHash('sha256').update(`wts-migrate-${schema}`).digest().readBigInt64BE();
  await client.query('select pg_advisory_lock($1)', [key.toString()]);
}

async function makeSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema ${client.escapeIdentifier(schema)}`);
}

/** Records applied migrations under the present names of their files, because a recorded name without a file is refused. */
async function renameRecorded(client: Client, schema: string, migrations: readonly Migration[]): Promise<void> {
  if ((await recordedNames(client, schema)).size === 0) return;
  for (const migration of migrations) {
    const { formerName } = await loadMigration(migration);
    if (formerName !== undefined)
      await client.query(`update ${tableOf(client, schema)} set name = $1 where name = $2`, [
        migration.name,
        formerName,
      ]);
  }
}

/**
 * A newer version may have migrated the schema: after a rollback this version runs on it and has nothing to do. A migration between
 * those of this version that it does not know means that a file was lost or renamed, and would make it run again. Keeps
 * installation.rollback.
 */
function refuseUnknown(recorded: ReadonlySet<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(({ name }) => name));
  const last = numberOf(migrations.at(-1)?.name ?? '');
  const unknown = [...recorded].filter((name) => !known.has(name) && numberOf(name) <= last);
  if (unknown.length === 0) return;
  throw new SetupError(
    `The database has migrations that this version lacks, older than its last: ${unknown.join(', ')}.`,
  );
}

function sourceOf(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: ({ name }) => name,
    getMigration: loadMigration,
  };
}
