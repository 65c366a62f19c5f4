import type { Knex } from 'knex';

/** Tables whose rows change often, mostly in columns without an index. */
const TABLES = ['tasks', 'task_checklist_items'] as const;

/**
 * Each page keeps room for one more version of a row: an update that changes no indexed column then stays on its page and adds no entry to
 * any index, of which the search index is the most expensive. Room that a version has used is free again once no reader needs the old one.
 * A page has five tasks of usual length instead of six. Pages that are full already get their room by their first updates.
 */
export async function up(knex: Knex): Promise<void> {
  for (const table of TABLES) await knex.raw(`alter table sync.${table} set (fillfactor = 85)`);
}

export async function down(knex: Knex): Promise<void> {
  for (const table of TABLES) await knex.raw(`alter table sync.${table} reset (fillfactor)`);
}
