import type { Knex } from 'knex';

/**
 * Mails that wait for the mail server, and for some days those that ended. `content` is sealed, and is deleted when the mail ends. Until
 * `next_at` a replica is sending it, or it waits after a failure. `attempts` names the try that may write its outcome.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.mails (
    id uuid primary key,
    kind text not null,
    recipient text not null,
    user_id uuid,
    content bytea,
    sealed_with text,
    state text not null default 'waiting' check (state in ('waiting', 'sent', 'refused', 'given-up')),
    attempts integer not null default 0,
    reason text,
    created_at timestamptz not null default now(),
    next_at timestamptz not null default now(),
    ends_at timestamptz not null,
    ended_at timestamptz,
    check ((state = 'waiting') = (content is not null))
  )`);
  await knex.raw(`create index mails_next_at_idx on auth.mails (next_at) where state = 'waiting'`);
  await knex.raw(`create index mails_user_id_idx on auth.mails (user_id, created_at) where user_id is not null`);
  // An account loses an address that it never proved to the person who proves it.
  await knex.raw(`alter table auth.accounts alter column email drop not null`);
  await knex.raw(`create index mails_ended_at_idx on auth.mails (ended_at) where state <> 'waiting'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.mails`);
  await knex.raw(`update auth.accounts set email = id::text where email is null`);
  await knex.raw(`alter table auth.accounts alter column email set not null`);
}
