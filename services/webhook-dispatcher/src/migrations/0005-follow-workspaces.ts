import type { Knex } from 'knex';

/**
 * Workspaces with endpoints, each with a cursor of its own: how far its entries were turned into deliveries. A replica that
 * begins to follow adds those that are missing (`adoptWorkspaces`), also for a version of before that runs beside it and
 * moves `webhooks.cursor`; a later version drops that table.
 */
export async function up(knex: Knex): Promise<void> {
  // owner_id: whose turn its work takes. followed_at: when an endpoint was last created or enabled.
  await knex.raw(`create table webhooks.workspaces (
    workspace_id uuid primary key,
    owner_id uuid not null,
    position bigint not null,
    followed_at timestamptz not null default now()
  ) with (fillfactor = 70)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table webhooks.workspaces`);
}
