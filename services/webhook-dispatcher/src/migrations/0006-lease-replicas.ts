import type { Knex } from 'knex';

/**
 * Replicas that serve lanes. The lease is one of the replica, for all its lanes, so that it can be short: with a lease of each
 * lane, renewing cost as much as there are lanes. A replica whose lease ran out has ended and never serves a lane again under
 * this id; its lanes are free. Lanes of a version before have a lease of their own in `leased_until`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table webhooks.replicas (
    holder uuid primary key,
    leased_until timestamptz not null,
    has_ended boolean not null default false
  )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`update webhooks.lanes set leased_until = now() where leased_until = 'infinity'`);
  await knex.raw(`drop table webhooks.replicas`);
}
