import type { Knex } from 'knex';

/** The order of every list, with the records that have no rank: a place among many of those was found by reading and sorting them all. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`drop index sync.tasks_order_idx`);
  await knex.raw(`create index tasks_order_idx on sync.tasks (workspace_id, project_id, sort_order collate "C", id)`);
  await knex.raw(`create index projects_order_idx on sync.projects (workspace_id, sort_order collate "C", id)`);
  await knex.raw(`create index task_checklist_items_order_idx
    on sync.task_checklist_items (workspace_id, task_id, sort_order collate "C", id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index sync.task_checklist_items_order_idx`);
  await knex.raw(`drop index sync.projects_order_idx`);
  await knex.raw(`drop index sync.tasks_order_idx`);
  await knex.raw(
    `create index tasks_order_idx on sync.tasks (workspace_id, project_id, sort_order collate "C", id) where sort_order <> ''`,
  );
}
