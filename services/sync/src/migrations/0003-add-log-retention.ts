import type { Knex } from 'knex';

export const formerName = '0003-let-the-log-age';

/**
 * Columns and functions for retention and promotion.
 *
 * The default partition is dropped, because with one PostgreSQL cannot attach or detach a partition without blocking all readers
 * and writers of the log.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.sync_actions_default`);
  // A promotion begins a new timeline; a restored dump has another system identifier. Every commit reads the timeline, so that
  // must be cheap. Where a hosted PostgreSQL forbids both, an administrator begins epochs by hand.
  await knex.raw(`do $do$ begin
    perform pg_walfile_name(pg_current_wal_lsn()), system_identifier from pg_control_system();
    create function sync.log_timeline() returns text language sql volatile as
      $$select left(pg_walfile_name(pg_current_wal_lsn()), 8)$$;
    create function sync.log_lineage() returns text language sql volatile as
      $$select system_identifier || '/' || sync.log_timeline() from pg_control_system()$$;
  exception when insufficient_privilege or feature_not_supported or undefined_function or object_not_in_prerequisite_state then
    create function sync.log_timeline() returns text language sql immutable as $$select 'unknown'$$;
    create function sync.log_lineage() returns text language sql immutable as $$select 'unknown/unknown'$$;
  end $do$`);
  await knex.raw(`alter table sync.log_state
    add column began_at bigint not null default 0,
    add column floor_moved_at timestamptz not null default now(),
    add column lineage text not null default ''`);
  await knex.raw(`update sync.log_state set lineage = sync.log_lineage()`);
  // The lock is that of the log (store/log.ts). Entries of the old epoch may have been lost with the old primary, and clients may
  // have cursors among them: the new epoch begins after a gap, above all cursors of the old one.
  await knex.raw(`create function sync.begin_epoch() returns void language sql volatile as $$
    select pg_advisory_xact_lock(7368011);
    update sync.log_state set epoch = gen_random_uuid(), lineage = sync.log_lineage(),
      began_at = greatest(began_at, coalesce((select max(sync_id) from sync.sync_actions), 0)) + 1000000
  $$`);
  await knex.raw(`create table sync.trimmed_losses (
    user_id uuid not null,
    group_id uuid not null,
    sync_id bigint not null,
    primary key (user_id, group_id)
  )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.trimmed_losses`);
  await knex.raw(`drop function sync.begin_epoch()`);
  await knex.raw(`alter table sync.log_state drop column began_at, drop column floor_moved_at, drop column lineage`);
  await knex.raw(`drop function sync.log_lineage()`);
  await knex.raw(`drop function sync.log_timeline()`);
  await knex.raw(`create table sync.sync_actions_default partition of sync.sync_actions default`);
}
