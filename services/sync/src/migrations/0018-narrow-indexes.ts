import type { Knex } from 'knex';

// Contracts sync.tasks_group_id_id_idx, sync.task_checklist_items_group_id_id_idx, sync.comments_group_id_id_idx: the upgrade from 0.1.0
// stops the system.

/** Tables with a list, and the column of their parent. */
const LISTS = [
  ['tasks', ', project_id'],
  ['projects', ''],
  ['task_checklist_items', ', task_id'],
] as const;

/** Read by group in any order: the index of their pages begins with the group too, and its new entries are the last ones. */
const PAGED = ['tasks', 'task_checklist_items', 'comments'] as const;

const RANK = `sort_order collate "C"`;

/** What a change costs: fewer indexes, and none whose new entries are anywhere. The logbook of a group gets the order of its pages. */
export async function up(knex: Knex): Promise<void> {
  for (const [table, parent] of LISTS) {
    await knex.raw(`drop index sync.${table}_order_idx`);
    await knex.raw(
      `create index ${table}_order_idx on sync.${table} (workspace_id${parent}, ${RANK}, id) where ${RANK} > ''`,
    );
    await knex.raw(`create index ${table}_unranked_idx on sync.${table} (workspace_id${parent}) where ${RANK} = ''`);
  }
  await knex.raw(`create index tasks_group_id_completed_at_id_idx on sync.tasks (group_id, completed_at, id)
    where completed_at is not null`);
  for (const table of PAGED) await knex.raw(`drop index sync.${table}_group_id_id_idx`);
}

export async function down(knex: Knex): Promise<void> {
  for (const table of PAGED) await knex.raw(`create index ${table}_group_id_id_idx on sync.${table} (group_id, id)`);
  await knex.raw(`drop index sync.tasks_group_id_completed_at_id_idx`);
  for (const [table, parent] of LISTS) {
    await knex.raw(`drop index sync.${table}_unranked_idx, sync.${table}_order_idx`);
    await knex.raw(`create index ${table}_order_idx on sync.${table} (workspace_id${parent}, ${RANK}, id)`);
  }
}
