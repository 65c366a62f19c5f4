import { snakeCase, type Column } from '@wts/models';
import type { Knex } from 'knex';

interface AddedField {
  readonly table: string;
  readonly field: string;
  /** The field it follows in the record. */
  readonly after: string;
  readonly type: Column['type'];
  /** The value in existing records, as an SQL literal; null: the field is optional and empty there. */
  readonly initial: string | null;
}

/**
 * For the migration of a field that was added to the registry: adds its column, and the field to every stored record. The migration
 * names everything itself, because the registry changes later and a migration must do the same on every database.
 */
export async function addField(knex: Knex, { table, field, after, type, initial }: AddedField): Promise<void> {
  const [rows, column] = [`sync.${table}`, snakeCase(field)];
  if (initial === null) {
    await knex.raw(`alter table ${rows} add column ${column} ${type}`);
  } else {
    // With a default, PostgreSQL adds the column without rewriting the table.
    await knex.raw(`alter table ${rows} add column ${column} ${type} not null default ${initial}`);
    await knex.raw(`alter table ${rows} alter column ${column} drop default`);
  }
  await knex.raw(
    `update ${rows} set record = cast((
      select '{' || string_agg(concat(to_json(key), ':', value), ',' order by place) || '}' from (
        select key, value, place from json_each(record) with ordinality as stored(key, value, place)
        union all
        select :field, coalesce(to_json(${column}), 'null'), place + 0.5
          from json_each(record) with ordinality as stored(key, value, place) where key = :after
      ) fields) as json)`,
    { field, after },
  );
}
