import type { Knex } from 'knex';

/** Finds the people who have an address, in any case. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index identities_address_idx on auth.identities (md5(lower(email))) where email is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index auth.identities_address_idx`);
}
