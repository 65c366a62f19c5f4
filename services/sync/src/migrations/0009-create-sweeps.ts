import type { Knex } from 'knex';

export const formerName = '0009-sweep-cascades';

/**
 * Tables for the sweeper (`sweeps/`), which does the rest of large deletions and moves, and for what workspaces see of people who
 * left them (infra/decisions/0004-who-sees-people.md).
 *
 * People who left before are frozen now, as they are, in the log as well: without e-mail address where they left, followed by
 * entries with the address for their other groups. The lock is that of the log (`store/log.ts`).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table sync.sweeps (
    kind text not null,
    model text not null,
    root_id uuid not null,
    workspace_id uuid,
    user_id uuid,
    actor_id uuid not null,
    generation integer not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    served_at timestamptz not null default clock_timestamp(),
    leased_until timestamptz not null default '-infinity',
    primary key (root_id, model, kind)
  )`);
  await knex.raw(`create index sweeps_user_id_idx on sync.sweeps (user_id, workspace_id) where user_id is not null`);
  await knex.raw(`create table sync.frozen_people (
    user_id uuid not null,
    group_id uuid not null,
    record json not null,
    frozen_at timestamptz not null default clock_timestamp(),
    primary key (user_id, group_id)
  )`);
  await knex.raw(`create index frozen_people_group_id_idx on sync.frozen_people (group_id, user_id)`);
  await knex.raw(`select pg_advisory_xact_lock(7368011)`);
  await knex.raw(`insert into sync.frozen_people (user_id, group_id, record)
    select a.user_id, a.group_id, ${WITHOUT_EMAIL} from sync.user_audiences a join sync.users u on u.id = a.user_id
    where a.group_id <> a.user_id
      and not exists (select from sync.workspace_members m where m.user_id = a.user_id and m.workspace_id = a.group_id)`);
  await knex.raw(`delete from sync.user_audiences a using sync.frozen_people f
    where f.user_id = a.user_id and f.group_id = a.group_id`);
  await knex.raw(`with head as (
      select greatest(coalesce((select max(sync_id) from sync.sync_actions), 0), (select began_at from sync.log_state)) as at
    ), entries as (
      select f.user_id, f.group_id, f.group_id as workspace_id, f.record, '{"email":null}'::json as data, 0 as behind
        from sync.frozen_people f join sync.users u on u.id = f.user_id where u.email is not null
      union all
      select u.id, a.group_id, nullif(a.group_id, u.id), u.record, json_build_object('email', u.email), 1
        from sync.users u join sync.user_audiences a on a.user_id = u.id
        where u.email is not null and u.id in (select user_id from sync.frozen_people)
    )
    insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed,
      actor_id, client_id, client_tx_id, created_at)
    select head.at + row_number() over (order by user_id, behind, group_id), gen_random_uuid(), workspace_id, group_id, 'User', user_id,
      'UPDATE', record, data, '{email}', user_id, 'migration', gen_random_uuid()::text, now()
    from entries, head`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`insert into sync.user_audiences (user_id, group_id) select user_id, group_id from sync.frozen_people
    on conflict do nothing`);
  await knex.raw(`drop table sync.frozen_people`);
  await knex.raw(`drop table sync.sweeps`);
}

/** Cannot match inside a value, where quotes are escaped. */
const WITHOUT_EMAIL = `regexp_replace(u.record::text, '"email":"([^"\\\\]|\\\\.)*"', '"email":null')::json`;
