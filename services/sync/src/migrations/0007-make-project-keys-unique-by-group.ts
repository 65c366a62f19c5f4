import type { Knex } from 'knex';

export const formerName = '0007-hide-project-keys';

/**
 * The key of a project is unique in its group, because the refusal of a key would reveal a private project. Going down fails where
 * a private project and another one have the same key: rename one of them first.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create unique index if not exists projects_group_id_key_key on sync.projects (group_id, key)`);
  await knex.raw(`create index if not exists projects_workspace_id_idx on sync.projects (workspace_id)`);
  await knex.raw(`drop index if exists sync.projects_workspace_id_key_key`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`create unique index projects_workspace_id_key_key on sync.projects (workspace_id, key)`);
  await knex.raw(`drop index sync.projects_workspace_id_idx`);
  await knex.raw(`drop index sync.projects_group_id_key_key`);
}
