import { snakeCase, type Column } from '@wts/models';
import type { Knex } from 'knex';

interface AddedField {
  readonly field: string;
  readonly type: Column['type'];
  /** The value in existing records, as an SQL literal; null: the field is optional and empty there. */
  readonly initial: string | null;
}

interface AddedTo {
  readonly table: string;
  /** The field they follow in the record. */
  readonly after: string;
}

/**
 * For the migration of a field that was added to the registry: adds its column, and the field to every stored record. The migration
 * names everything itself, because the registry changes later and a migration must do the same on every database.
 */
export async function addField(knex: Knex, { table, after, ...field }: AddedTo & AddedField): Promise<void> {
  await addFields(knex, { table, after, fields: [field] });
}

/**
 * The same for several fields, in their order. A field that the records have already moves to its new place. `fill` is a statement that
 * sets values of the new columns before they are written into the records.
 */
export async function addFields(
  knex: Knex,
  { table, after, fields, fill }: AddedTo & { readonly fields: readonly AddedField[]; readonly fill?: string },
): Promise<void> {
  const rows = `sync.${table}`;
  for (const { field, type, initial } of fields) {
    const column = snakeCase(field);
    if (initial === null) {
      await knex.raw(`alter table ${rows} add column if not exists ${column} ${type}`);
    } else {
      // With a default, PostgreSQL adds the column without rewriting the table.
      await knex.raw(`alter table ${rows} add column ${column} ${type} not null default ${initial}`);
      await knex.raw(`alter table ${rows} alter column ${column} drop default`);
    }
  }
  if (fill !== undefined) await knex.raw(fill);
  const added = fields.map(
    ({ field }, index) =>
      `select '${field}', coalesce(to_json(${snakeCase(field)}), 'null'), place + ${(index + 1) / (fields.length + 1)} from stored where key = '${after}'`,
  );
  await rewriteRecords(knex, rows, [
    `select key, value, place from stored where key not in (${fields.map(({ field }) => `'${field}'`).join(', ')})`,
    ...added,
  ]);
}

/** For the way back. */
export async function dropFields(
  knex: Knex,
  { table, fields }: { readonly table: string; readonly fields: readonly string[] },
): Promise<void> {
  const rows = `sync.${table}`;
  await knex.raw(`alter table ${rows} ${fields.map((field) => `drop column ${snakeCase(field)}`).join(', ')}`);
  const names = fields.map((field) => `'${field}'`).join(', ');
  await rewriteRecords(knex, rows, [`select key, value, place from stored where key not in (${names})`]);
}

/** `parts` are queries of the fields of `stored`, a record. */
async function rewriteRecords(knex: Knex, rows: string, parts: readonly string[]): Promise<void> {
  await knex.raw(
    `update ${rows} set record = cast((
      with stored as (select key, value, place from json_each(record) with ordinality as stored(key, value, place))
      select '{' || string_agg(concat(to_json(key), ':', value), ',' order by place) || '}'
        from (${parts.join(' union all ')}) fields(key, value, place)) as json)`,
  );
}
