import type { Client } from 'pg';
import { SetupError } from '../config/setup-error.ts';
import { connectClient } from '../postgres/other-password.ts';
import { listMigrations, loadMigration } from './list-migrations.ts';

export interface ServiceMigrations {
  /** Owned by the role `wts_<schema>`. */
  readonly schema: string;
  /** The folder of the migrations. */
  readonly directory: string;
}

/** A schema of another service that a service reads. */
export interface ReadSchema {
  readonly schema: string;
  /** The newest migration of it that this version knows. */
  readonly migration: string;
}

export async function connect(url: string, schema: string): Promise<Client> {
  try {
    return await connectClient({ connectionString: url, application_name: `wts-migrate-${schema}` });
  } catch (cause) {
    const { message, code = '' } = cause as Error & { code?: string };
    // Of a name with two addresses that both refuse, the message is empty.
    throw new SetupError(`PostgreSQL does not accept the connection: ${message || code}`, { cause });
  }
}

/** The migrations that a version of the service ran, by their names in that version. */
export async function recordedNames(client: Client, schema: string): Promise<ReadonlySet<string>> {
  const table = tableOf(client, schema);
  const { rowCount } = await client.query('select 1 where to_regclass($1) is not null', [table]);
  if (rowCount === 0) return new Set();
  const { rows } = await client.query<{ name: string }>(`select name from ${table} order by id`);
  return new Set(rows.map(({ name }) => name));
}

export function tableOf(client: Client, schema: string): string {
  return `${client.escapeIdentifier(schema)}.migrations`;
}

/** The names of the migrations that `migrate` would run now. Changes nothing. */
export async function pendingMigrations(url: string, migrations: ServiceMigrations): Promise<string[]> {
  const client = await connect(url, migrations.schema);
  try {
    return await pendingIn(client, migrations);
  } finally {
    await client.end();
  }
}

export async function pendingIn(client: Client, { schema, directory }: ServiceMigrations): Promise<string[]> {
  const recorded = await recordedNames(client, schema);
  const pending: string[] = [];
  for (const migration of await listMigrations(directory)) {
    if (recorded.has(migration.name)) continue;
    const { formerName } = await loadMigration(migration);
    if (formerName === undefined || !recorded.has(formerName)) pending.push(migration.name);
  }
  return pending;
}

/** The migration itself when the schema has neither it nor a later one, by their numbers: a later version may have renamed it. */
export async function pendingOf(client: Client, { schema, migration }: ReadSchema): Promise<string[]> {
  const recorded = await recordedNames(client, schema);
  return [...recorded].some((name) => numberOf(name) >= numberOf(migration)) ? [] : [migration];
}

/** Of `NNNN-verb-noun`. */
export function numberOf(migration: string): string {
  return migration.slice(0, 4);
}

export function lacking({ schema }: Pick<ServiceMigrations, 'schema'>, pending: readonly string[]): SetupError {
  return new SetupError(
    `Schema ${schema} lacks what this version needs; run "migrate" of the service that owns it: ${pending.join(', ')}.`,
  );
}
