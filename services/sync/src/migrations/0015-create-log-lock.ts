import type { Knex } from 'knex';

/**
 * The lock of the log (store/log.ts) becomes that of a table, which only its owner may lock. It was an advisory lock, which every role
 * of the database may take, and so stop all commits. The table stays empty and is never written. No process of an earlier version
 * may run meanwhile, because it would commit under the other lock.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table sync.log_lock ()`);
  await knex.raw(beginEpoch('lock table sync.log_lock in share update exclusive mode'));
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(beginEpoch('select pg_advisory_xact_lock(7368011)'));
  await knex.raw(`drop table sync.log_lock`);
}

function beginEpoch(lock: string): string {
  return `create or replace function sync.begin_epoch() returns void language sql volatile as $$
    ${lock};
    update sync.log_state set epoch = gen_random_uuid(), lineage = sync.log_lineage(),
      began_at = greatest(began_at, coalesce((select max(sync_id) from sync.sync_actions), 0)) + 1000000
  $$`;
}
