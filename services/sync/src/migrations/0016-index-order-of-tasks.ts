import type { Knex } from 'knex';

/** The order of the tasks of a project, or of those in none, where they have a rank: most tasks have none, and cost nothing here. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `create index tasks_order_idx on sync.tasks (workspace_id, project_id, sort_order collate "C", id) where sort_order <> ''`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index sync.tasks_order_idx`);
}
