import type { Knex } from 'knex';

/** What a person chose at the consent: one workspace, and an end that no refresh moves. Null for all workspaces, and for the longest time. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.grants add column workspace_id uuid, add column ends_at timestamptz`);
}

/** A grant with a limit would have none. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`update auth.grants set revoked_at = clock_timestamp()
    where revoked_at is null and (workspace_id is not null or ends_at is not null)`);
  await knex.raw(`alter table auth.grants drop column workspace_id, drop column ends_at`);
}
