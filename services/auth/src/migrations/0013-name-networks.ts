import type { Knex } from 'knex';

/** The network that registered a client or began a request, so that the rows of each can be bounded. Rows from before count as one network. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.clients add column network text`);
  await knex.raw(`alter table auth.pending_requests add column network text`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.clients drop column network`);
  await knex.raw(`alter table auth.pending_requests drop column network`);
}
