import type { Knex } from 'knex';

/**
 * Accounts of people who sign in by password. `email` is the address in its comparable form. A place is a browser or a network in
 * which the owner of an account signed in before. Failures are counted by the hash of what they are counted for.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.accounts (
    id uuid primary key,
    email text not null unique,
    shown_email text not null,
    name text not null,
    email_verified boolean not null default false,
    password_hash text not null,
    created_at timestamptz not null default now()
  )`);
  await knex.raw(`create table auth.sign_in_places (
    account_id uuid not null references auth.accounts (id) on delete cascade,
    place_hash bytea not null check (length(place_hash) = 32),
    last_used_at timestamptz not null default now(),
    primary key (account_id, place_hash)
  )`);
  await knex.raw(`create table auth.sign_in_failures (
    counted_hash bytea primary key check (length(counted_hash) = 32),
    failures integer not null,
    ends_at timestamptz not null
  )`);
  await knex.raw(`create index sign_in_failures_ends_at_idx on auth.sign_in_failures (ends_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.sign_in_failures, auth.sign_in_places, auth.accounts`);
}
