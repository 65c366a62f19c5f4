import { layoutOf, recordFromColumnsSql, type Model } from '@wts/models';
import type { Knex } from 'knex';

/**
 * For a migration after a field was declared: adds its column, gives it the declared initial value, and completes the
 * stored records with it. Does nothing on a database that was made with the field.
 */
export async function addField(knex: Knex, model: Model, field: string): Promise<void> {
  const { table, columns } = layoutOf(model);
  const column = columns.find((one) => one.field === field);
  const declared = model.fields[field];
  if (!column || !declared) throw new Error(`${model.name} declares no field ${field}`);
  if (await knex.schema.withSchema('sync').hasColumn(model.table, column.name)) return;
  await knex.raw(`alter table ${table} add column ${column.name} ${column.type}`);
  if (declared.initial !== null) {
    const initial = Array.isArray(declared.initial) ? '{}' : declared.initial;
    await knex.raw(`update ${table} set ${column.name} = ?::${column.type}`, [initial as string]);
    if (!column.nullable) await knex.raw(`alter table ${table} alter column ${column.name} set not null`);
  }
  await knex.raw(`update ${table} set record = ${recordFromColumnsSql(model)}`);
}
