import { SetupError } from '@wts/service-kit/config';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/**
 * Identities and API keys belong to the auth service, whose migrations have copied the rows. `down` creates the tables again,
 * without rows: those are in schema auth, which this role may not read.
 */
export async function up(knex: Knex): Promise<void> {
  // The catalog, because naming a table of a schema that this role may not use is an error.
  const copies = await rows(
    knex,
    `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'auth' and c.relkind = 'r' and c.relname in ('identities', 'api_keys')`,
  );
  if (copies.length < 2 && !(await isEmpty(knex))) {
    throw new SetupError(
      'The tables auth.identities and auth.api_keys do not exist yet, which replace those of schema workspace: run the migrations of the auth service first.',
    );
  }
  await knex.raw(`drop table workspace.api_keys`);
  await knex.raw(`drop table workspace.identities`);
}

/** In a new installation there is nothing to copy, and the tables of auth may be in another database. */
async function isEmpty(knex: Knex): Promise<boolean> {
  const sql = `select where exists (select from workspace.identities) or exists (select from workspace.api_keys)`;
  return (await rows(knex, sql)).length === 0;
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`create table workspace.identities (
    identity_hash bytea primary key check (length(identity_hash) = 32),
    issuer text not null,
    subject text not null,
    user_id uuid not null,
    email text,
    email_verified boolean not null default false,
    created_at timestamptz not null default now(),
    person_created_at timestamptz
  )`);
  await knex.raw(`create index identities_user_id_idx on workspace.identities (user_id)`);
  await knex.raw(`create table workspace.api_keys (
    id uuid primary key,
    user_id uuid not null,
    label text not null,
    key_prefix text not null,
    token_hash bytea not null unique check (length(token_hash) = 32),
    permissions text not null check (permissions in ('read-only', 'full-access')),
    workspace_id uuid,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    last_used_at timestamptz,
    revoked_at timestamptz,
    made_by text check (made_by in ('session', 'api_key')),
    made_by_key uuid references workspace.api_keys (id),
    check ((made_by_key is not null) = (made_by is not distinct from 'api_key'))
  )`);
  await knex.raw(`create index api_keys_user_id_idx on workspace.api_keys (user_id, created_at)`);
  await knex.raw(`create index api_keys_workspace_id_idx on workspace.api_keys (workspace_id)
    where workspace_id is not null`);
  await knex.raw(
    `create index api_keys_revoked_at_idx on workspace.api_keys (revoked_at) where revoked_at is not null`,
  );
  await knex.raw(`create index api_keys_made_by_key_idx on workspace.api_keys (made_by_key)
    where made_by_key is not null`);
}
