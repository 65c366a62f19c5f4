import type { Knex } from 'knex';

/** Indexes of references, which now continue with the order of pages: a page of the tasks of a project reads its own rows only. */
const REFERENCES = [
  ['tasks', 'project_id', ' where project_id is not null'],
  ['tasks', 'team_id', ' where team_id is not null'],
  ['tasks', 'assignee_id', ' where assignee_id is not null'],
  ['tasks', 'repeat_template_id', ' where repeat_template_id is not null'],
  ['task_checklist_items', 'workspace_id', ''],
  ['task_checklist_items', 'task_id', ''],
  ['comments', 'workspace_id', ''],
  ['comments', 'task_id', ''],
  ['comments', 'parent_id', ' where parent_id is not null'],
] as const;

/** Pages of all tasks, items or comments that a reader sees, which are read group by group. */
const GROUPS = ['tasks', 'task_checklist_items', 'comments'] as const;

/**
 * Indexes for GraphQL. Those of references replace the ones before, so they are not more; a page by group and a search need one more
 * each. No column of them changes after the creation of a record, except the texts of the search.
 *
 * The extensions are made by `infra/postgres/roles.sql`. A database that was set up before needs it to be run again.
 */
export async function up(knex: Knex): Promise<void> {
  for (const [table, column, where] of REFERENCES) {
    await knex.raw(
      `create index ${table}_${column}_created_at_id_idx on sync.${table} (${column}, created_at, id)${where}`,
    );
    await knex.raw(`drop index sync.${table}_${column}_idx`);
  }
  for (const table of GROUPS)
    await knex.raw(`create index ${table}_group_id_created_at_id_idx on sync.${table} (group_id, created_at, id)`);
  await knex.raw(`create index tasks_search_idx on sync.tasks using gin
    (workspace_id, to_tsvector('simple'::regconfig, title || ' ' || coalesce(description, '')), title public.gin_trgm_ops)`);
  await knex.raw(`create index comments_search_idx on sync.comments using gin
    (workspace_id, to_tsvector('simple'::regconfig, body))`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index sync.comments_search_idx, sync.tasks_search_idx`);
  for (const table of GROUPS) await knex.raw(`drop index sync.${table}_group_id_created_at_id_idx`);
  for (const [table, column, where] of REFERENCES) {
    await knex.raw(`create index ${table}_${column}_idx on sync.${table} (${column})${where}`);
    await knex.raw(`drop index sync.${table}_${column}_created_at_id_idx`);
  }
}
