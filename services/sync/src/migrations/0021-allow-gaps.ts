import type { Knex } from 'knex';

/**
 * Positions may have gaps (store/positions.ts), so no reader counts them: `groups_of_next` reads a number of entries and
 * returns the position that it reached with their groups. `groups_between` stays for processes
 * of the version before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table sync.log_state add column gap_max bigint not null default 0 check (gap_max >= 0)`);
  // For readers with more groups than entries to read. The settings leave one plan, by the primary key, also where the planner
  // has no estimate of their number.
  await knex.raw(`create function sync.groups_of_next(after bigint, up_to bigint, size bigint, out reached bigint, out groups uuid[])
    language plpgsql stable
    set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan set jit = off
    as $$
    begin
      with next as materialized (
        select sync_id, group_id from sync.sync_actions where sync_id > after and sync_id <= up_to order by sync_id limit size
      )
      select case count(*) when size then max(sync_id) else up_to end, array_agg(distinct group_id) into reached, groups from next;
    end
  $$`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop function sync.groups_of_next(bigint, bigint, bigint)`);
  await knex.raw(`alter table sync.log_state drop column gap_max`);
}
