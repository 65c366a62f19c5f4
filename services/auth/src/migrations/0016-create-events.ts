import type { Knex } from 'knex';

/**
 * The security record. Rows are only added, and deleted when they are old: a trigger refuses the rest, so that neither a fault of this
 * service nor its role rewrites what happened. `subject_id` is a session, a key, a grant, a client and so on, by the kind.
 * Keeps authentication.record.kept.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.events (
    id uuid primary key,
    at timestamptz not null default clock_timestamp(),
    kind text not null,
    user_id uuid,
    account_id uuid,
    workspace_id uuid,
    subject_id text,
    actor text not null check (actor in ('person', 'operator', 'system')),
    actor_id text,
    network text,
    browser text,
    request_id text,
    details jsonb not null default '{}'
  )`);
  await knex.raw(`create index events_user_idx on auth.events (user_id, at, id) where user_id is not null`);
  await knex.raw(
    `create index events_workspace_idx on auth.events (workspace_id, at, id) where workspace_id is not null`,
  );
  await knex.raw(`create index events_at_idx on auth.events (at)`);
  await knex.raw(`create index events_unknown_idx on auth.events (kind, at) where user_id is null`);
  await knex.raw(`create function auth.refuse_change_of_events() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and old.at < now() - interval '1 day' then return old; end if;
      raise exception 'rows of auth.events are only added, and deleted when they are old';
    end $$`);
  await knex.raw(`create trigger events_are_kept before update or delete on auth.events
    for each row execute function auth.refuse_change_of_events()`);
  await knex.raw(`create trigger events_are_not_emptied before truncate on auth.events
    for each statement execute function auth.refuse_change_of_events()`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.events`);
  await knex.raw(`drop function auth.refuse_change_of_events()`);
}
