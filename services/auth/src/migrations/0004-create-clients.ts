import type { Knex } from 'knex';

/** Registered clients (RFC 7591). A secret has 256 random bits, so a SHA-256 of it is enough. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.clients (
    id text primary key,
    secret_hash bytea check (length(secret_hash) = 32),
    name text,
    redirect_uris text[] not null,
    auth_method text not null,
    grant_types text[] not null,
    application_type text,
    created_at timestamptz not null default now(),
    used_at timestamptz,
    check ((secret_hash is null) = (auth_method = 'none'))
  )`);
  // For the clean-up of clients that never got a token.
  await knex.raw(`create index clients_unused_idx on auth.clients (created_at) where used_at is null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.clients`);
}
