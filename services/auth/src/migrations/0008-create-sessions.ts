import type { Knex } from 'knex';

/** Sessions of browsers. The cookie holds the secret, the table its hash. `account_id` is null after a sign-in by a provider. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.sessions (
    id uuid primary key,
    secret_hash bytea not null unique check (length(secret_hash) = 32),
    user_id uuid not null,
    account_id uuid references auth.accounts (id) on delete cascade,
    created_at timestamptz not null default now(),
    last_used_at timestamptz not null default now()
  )`);
  await knex.raw(`create index sessions_user_id_idx on auth.sessions (user_id)`);
  await knex.raw(`create index sessions_account_id_idx on auth.sessions (account_id)`);
  await knex.raw(`create index sessions_last_used_at_idx on auth.sessions (last_used_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.sessions`);
}
