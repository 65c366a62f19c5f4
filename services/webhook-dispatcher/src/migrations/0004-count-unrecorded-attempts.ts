import type { Knex } from 'knex';

/**
 * Attempts of a delivery that began and were never recorded, because the process ended. Counted only in a lane whose last
 * holder did not give it back; a recorded attempt sets it to zero.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table webhooks.deliveries add column unrecorded_attempts smallint not null default 0`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table webhooks.deliveries drop column unrecorded_attempts`);
}
