import type { Knex } from 'knex';

/**
 * A new epoch also after a dump was restored into the server it was made on: its tables are new ones, so their ids differ. And an
 * epoch begins far above all cursors that clients may have, because a restored backup may be days old, with a partition for its first
 * entries, so that no commit waits for the maintenance of the log.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`do $do$ declare before text := sync.log_lineage(); begin
    ${lineageSql(`|| '/' || 'sync.log_state'::regclass::oid`)}
    update sync.log_state set lineage = sync.log_lineage() where lineage = before;
  end $do$`);
  // The definer owns the log. It is called by hand, too, where a database does not show what it was restored from.
  await knex.raw(`create or replace function sync.begin_epoch() returns void language plpgsql volatile security definer
    set search_path = pg_catalog as $$
    declare
      begin_at bigint;
    begin
      lock table sync.log_lock in share update exclusive mode;
      update sync.log_state set epoch = gen_random_uuid(), lineage = sync.log_lineage(),
        began_at = (greatest(began_at, coalesce((select max(sync_id) from sync.sync_actions), 0)) / ${STEP} + 2) * ${STEP}
        returning began_at into begin_at;
      execute format('create table sync.sync_actions_from_%1$s (like sync.sync_actions including all,
        check (sync_id >= %1$s and sync_id < %2$s))', begin_at, begin_at + 1000000);
      execute format('alter table sync.sync_actions attach partition sync.sync_actions_from_%1$s for values from (%1$s) to (%2$s)',
        begin_at, begin_at + 1000000);
    end $$`);
  // `create or replace` of a function for everyone would let any role begin an epoch as its owner.
  await knex.raw(`revoke execute on function sync.begin_epoch() from public`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop function sync.begin_epoch()`);
  await knex.raw(`create function sync.begin_epoch() returns void language sql volatile as $$
    lock table sync.log_lock in share update exclusive mode;
    update sync.log_state set epoch = gen_random_uuid(), lineage = sync.log_lineage(),
      began_at = greatest(began_at, coalesce((select max(sync_id) from sync.sync_actions), 0)) + 1000000
  $$`);
  await knex.raw(`do $do$ declare before text := sync.log_lineage(); begin
    ${lineageSql('')}
    update sync.log_state set lineage = sync.log_lineage() where lineage = before;
  end $do$`);
}

/** More positions than a backup is behind what clients have seen, and millions of epochs below 2^53. */
const STEP = 1_000_000_000;

/** The server, its timeline, and what is added. As far as the database shows it. */
function lineageSql(added: string): string {
  return `begin
      perform pg_walfile_name(pg_current_wal_lsn()), system_identifier from pg_control_system();
      create or replace function sync.log_lineage() returns text language sql volatile as
        $$select system_identifier || '/' || sync.log_timeline() ${added} from pg_control_system()$$;
    exception when insufficient_privilege or feature_not_supported or undefined_function or object_not_in_prerequisite_state then
      create or replace function sync.log_lineage() returns text language sql stable as $$select 'unknown/unknown' ${added}$$;
    end;`;
}
