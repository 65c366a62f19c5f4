import type { Knex } from 'knex';

/**
 * The number of the log, SHARD. Null until sync has started once. With another one than its database has, a service does not start: its names
 * of streams and subjects would be those of another log.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table sync.log_state add column shard int`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table sync.log_state drop column shard`);
}
