import type { Knex } from 'knex';

/** The client of an authorization request that waits, so that its registration is not deleted meanwhile. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.pending_requests add column client_id text`);
  await knex.raw(`create index pending_requests_client_idx on auth.pending_requests (client_id)
    where client_id is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.pending_requests drop column client_id`);
}
