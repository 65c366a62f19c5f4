import type { Knex } from 'knex';

/** Where a session began, and the network of its last use, for the person who looks for one that is not theirs. Null for older ones. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `alter table auth.sessions add column network text, add column browser text, add column last_network text`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.sessions drop column network, drop column browser, drop column last_network`);
}
