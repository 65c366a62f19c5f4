import { SetupError } from '@wts/service-kit/config';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/**
 * Copies all rows of a table that the workspace service kept before, within the transaction of a migration. Does nothing where
 * that table does not exist: in a new database, or after the migration of the workspace service that drops it.
 */
export async function copyFromWorkspace(
  knex: Knex,
  table: 'identities' | 'api_keys',
  columns: readonly string[],
): Promise<void> {
  // The catalog, because naming a table of a schema that this role may not use is an error.
  const sql = `select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as "isReadable"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'workspace' and c.relname = :table and c.relkind = 'r'`;
  const [source] = await rows<{ isReadable: boolean }>(knex, sql, { table });
  if (source === undefined) return;
  if (!source.isReadable) {
    throw new SetupError(
      `The role wts_auth may not read workspace.${table}, whose rows move to schema auth: run infra/postgres/roles.sql again, then the migrations.`,
    );
  }
  const list = columns.join(', ');
  await knex.raw(`insert into auth.${table} (${list}) select ${list} from workspace.${table}`);
}
