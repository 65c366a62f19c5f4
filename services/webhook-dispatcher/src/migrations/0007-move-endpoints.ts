import type { Knex } from 'knex';

/** Endpoints of a workspace that moves to another cell, or came from one and is not complete: nothing is attempted meanwhile. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table webhooks.endpoints add column moving_at timestamptz`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table webhooks.endpoints drop column moving_at`);
}
