import type { Knex } from 'knex';

export const formerName = '0008-show-from-the-gain';

/**
 * The ids of all groups that ever were. A reader sees a group from their own gain of it on (`packages/read-model/src/visibility.ts`),
 * so an id of a former group must not name another one: its entries are still in the log, and its former readers keep copies.
 */
export async function up(knex: Knex): Promise<void> {
  // A commit inserts the ids that it uses (`store/used-groups.ts`). The trigger is for all other writers of such records:
  // replicas of the version before, and statements by hand.
  await knex.raw(`create table sync.used_groups (id uuid primary key)`);
  await knex.raw(`create function sync.use_groups() returns trigger language plpgsql as $$
    begin
      insert into sync.used_groups select id from made on conflict do nothing;
      return null;
    end
  $$`);
  // The log may be large, so it is read before anything is locked; entries that are added meanwhile are read afterwards.
  const [head] = (
    await knex.raw<{ rows: { at: string }[] }>(`select coalesce(max(sync_id), 0)::text as at from sync.sync_actions`)
  ).rows;
  await knex.raw(idsInLog('sync_id <= ?'), [head?.at ?? '0']);
  for (const table of ['workspaces', 'users', 'projects']) {
    await knex.raw(`create trigger use_groups after insert on sync.${table}
      referencing new table as made for each statement execute function sync.use_groups()`);
  }
  await knex.raw(`insert into sync.used_groups
    select id from sync.workspaces union select id from sync.users union select id from sync.projects
    on conflict do nothing`);
  await knex.raw(idsInLog('sync_id > ?'), [head?.at ?? '0']);
  // For readers with more groups than positions to read. The settings leave one plan, by the primary key, also where the planner
  // has no estimate of their number.
  await knex.raw(`create function sync.groups_between(after bigint, up_to bigint) returns uuid[] language plpgsql stable
    set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan set jit = off
    as $$
    begin
      return array(select distinct group_id from sync.sync_actions where sync_id > after and sync_id <= up_to);
    end
  $$`);
}

function idsInLog(range: string): string {
  return `insert into sync.used_groups
    select distinct id from sync.sync_actions,
      lateral (values (group_id), (case when model in ('Workspace', 'User', 'Project') then model_id end)) as named(id)
    where ${range} and id is not null on conflict do nothing`;
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop function sync.groups_between(bigint, bigint)`);
  for (const table of ['workspaces', 'users', 'projects']) await knex.raw(`drop trigger use_groups on sync.${table}`);
  await knex.raw(`drop function sync.use_groups()`);
  await knex.raw(`drop table sync.used_groups`);
}
