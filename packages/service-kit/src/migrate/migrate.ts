import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import knexFactory from 'knex';
import type { Knex } from 'knex';
import { Client } from 'pg';
import { SetupError } from '../life/setup-error.ts';
import type { Logger } from '../observe/logger.ts';
import { refuseMixedSessions } from '../postgres/check-postgres.ts';
import { knexLog } from '../postgres/knex-log.ts';

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

interface Migration {
  readonly name: string;
  readonly path: string;
}

interface MigrationModule extends Knex.Migration {
  /** The name of the migration in earlier versions, under which databases have recorded it. */
  readonly formerName?: string;
}

const fileName = /^\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.(?:ts|js)$/;
const LOCK_WAIT_MS = 60_000;
const VERSION_MIN = 150_000;

/**
 * Brings a service's schema up to date; returns the names of the migrations that ran. Any number of replicas may call it
 * concurrently: an advisory lock, held by a connection of its own so that it ends with the process, lets one of them work while the
 * others wait and then find nothing to do.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { url, directory, schema, log, direction = 'up' } = options;
  const [guard, other] = [1, 2].map(
    () => new Client({ connectionString: url, application_name: `wts-migrate-${schema}` }),
  ) as [Client, Client];
  await guard.connect();
  try {
    await checkVersion(guard);
    // Before the lock: a lock left on a session of a pooler would block all later migrations.
    try {
      await other.connect();
      await refuseMixedSessions(guard, other);
    } finally {
      await other.end();
    }
    await guard.query(UNBOUND);
    await lock(guard, schema);
    await makeSchema(guard, schema);
    const migrations = await listMigrations(directory);
    await renameRecorded(guard, schema, migrations);
    const knex = knexFactory({
      client: 'pg',
      connection: url,
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

/** Records applied migrations under the present names of their files: knex refuses a recorded name that has no file. */
async function renameRecorded(client: Client, schema: string, migrations: readonly Migration[]): Promise<void> {
  const table = `${client.escapeIdentifier(schema)}.migrations`;
  const { rowCount } = await client.query('select 1 where to_regclass($1) is not null', [table]);
  if (rowCount === 0) return;
  for (const { name, path } of migrations) {
    const { formerName } = await load(path);
    if (formerName !== undefined)
      await client.query(`update ${table} set name = $1 where name = $2`, [name, formerName]);
  }
}

async function load(path: string): Promise<MigrationModule> {
  return (await import(pathToFileURL(path).href)) as MigrationModule;
}

async function listMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory))
    .filter((file) => !file.endsWith('.d.ts') && !file.endsWith('.test.ts'))
    .sort();
  const stray = files.find((file) => /\.[jt]s$/.test(file) && !fileName.test(file));
  if (stray !== undefined) throw new Error(`${stray} in ${directory} is not named like a migration: NNNN-verb-noun.`);
  const migrations = files.filter((file) => fileName.test(file));
  const numbers = new Set(migrations.map((file) => file.slice(0, 4)));
  if (numbers.size !== migrations.length) throw new Error(`Two migrations in ${directory} have the same number.`);
  // Names without extension: the same migration is .ts in development and .js in an image.
  return migrations.map((file) => ({ name: parse(file).name, path: join(directory, file) }));
}

function sourceOf(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: ({ name }) => name,
    getMigration: ({ path }) => load(path),
  };
}
