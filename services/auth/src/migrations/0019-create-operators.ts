import type { Knex } from 'knex';

/**
 * Tokens of operators, stored by their hash. People who are disabled: no credential of theirs works; `id` is that of the revocation, which
 * is new each time. Clients that an operator registered are never deleted for want of use.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.operator_tokens (
    id uuid primary key,
    token_hash bytea not null unique check (length(token_hash) = 32),
    label text not null,
    created_at timestamptz not null default now(),
    last_used_at timestamptz,
    revoked_at timestamptz
  )`);
  await knex.raw(`create table auth.disabled_people (
    user_id uuid primary key,
    id uuid not null,
    disabled_at timestamptz not null default clock_timestamp(),
    erased_at timestamptz
  )`);
  await knex.raw(`create index disabled_people_disabled_at_idx on auth.disabled_people (disabled_at, id)`);
  await knex.raw(`alter table auth.clients add column by_operator boolean not null default false`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table auth.clients drop column by_operator`);
  await knex.raw(`drop table auth.disabled_people, auth.operator_tokens`);
}
