import type { Knex } from 'knex';

/** Indexes to find keys by the workspace they are limited to, and by when they were revoked. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index api_keys_workspace_id_idx on workspace.api_keys (workspace_id)
    where workspace_id is not null`);
  await knex.raw(
    `create index api_keys_revoked_at_idx on workspace.api_keys (revoked_at) where revoked_at is not null`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index workspace.api_keys_revoked_at_idx`);
  await knex.raw(`drop index workspace.api_keys_workspace_id_idx`);
}
