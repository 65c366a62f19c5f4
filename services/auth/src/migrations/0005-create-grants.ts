import type { Knex } from 'knex';

/**
 * A grant is what a person allowed a client; its code and its refresh tokens are deleted with it. Codes and refresh tokens have 256
 * random bits and are stored as their SHA-256. A client of a grant need not be in `clients`: its id may be the address of a document.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.grants (
    id uuid primary key,
    user_id uuid not null,
    client_id text not null,
    client_name text,
    scopes text[] not null,
    resources text[] not null,
    created_at timestamptz not null default now(),
    signed_in_at timestamptz not null,
    used_at timestamptz,
    expires_at timestamptz not null,
    revoked_at timestamptz
  )`);
  await knex.raw(`create index grants_user_idx on auth.grants (user_id)`);
  await knex.raw(`create index grants_client_idx on auth.grants (client_id)`);
  await knex.raw(`create index grants_expires_at_idx on auth.grants (expires_at)`);
  await knex.raw(`create index grants_revoked_at_idx on auth.grants (revoked_at, id) where revoked_at is not null`);
  await knex.raw(`create table auth.codes (
    hash bytea primary key check (length(hash) = 32),
    grant_id uuid not null references auth.grants on delete cascade,
    redirect_uri text not null,
    challenge text not null,
    expires_at timestamptz not null,
    used_at timestamptz
  )`);
  await knex.raw(`create index codes_grant_idx on auth.codes (grant_id)`);
  await knex.raw(`create table auth.refresh_tokens (
    hash bytea primary key check (length(hash) = 32),
    grant_id uuid not null references auth.grants on delete cascade,
    predecessor bytea,
    expires_at timestamptz not null,
    used_at timestamptz
  )`);
  await knex.raw(`create index refresh_tokens_grant_idx on auth.refresh_tokens (grant_id)`);
  await knex.raw(`create index refresh_tokens_predecessor_idx on auth.refresh_tokens (predecessor)`);
  await knex.raw(`create index refresh_tokens_expires_at_idx on auth.refresh_tokens (expires_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.refresh_tokens`);
  await knex.raw(`drop table auth.codes`);
  await knex.raw(`drop table auth.grants`);
}
