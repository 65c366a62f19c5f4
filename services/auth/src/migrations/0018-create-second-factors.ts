import type { Knex } from 'knex';

/**
 * Second factors of accounts: passkeys, one authenticator app with the last time step of a used code, and recovery codes. A challenge of a
 * passkey is stored when it was used, so that it is used once. A session has how it began, and when its person last proved who they are;
 * null: at its beginning.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.passkeys (
    id uuid primary key,
    account_id uuid not null references auth.accounts (id) on delete cascade,
    credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
    public_key bytea not null,
    sign_count bigint not null,
    transports text[] not null,
    name text not null,
    created_at timestamptz not null default now(),
    last_used_at timestamptz
  )`);
  await knex.raw(`create index passkeys_account_id_idx on auth.passkeys (account_id)`);
  await knex.raw(`create table auth.totp (
    account_id uuid primary key references auth.accounts (id) on delete cascade,
    secret bytea not null,
    sealed_with text not null,
    last_step bigint not null,
    created_at timestamptz not null default now()
  )`);
  await knex.raw(`create table auth.recovery_codes (
    account_id uuid not null references auth.accounts (id) on delete cascade,
    code_hash bytea not null check (length(code_hash) = 32),
    used_at timestamptz,
    primary key (account_id, code_hash)
  )`);
  await knex.raw(`create table auth.used_challenges (
    hash bytea primary key check (length(hash) = 32),
    expires_at timestamptz not null
  )`);
  await knex.raw(`create index used_challenges_expires_at_idx on auth.used_challenges (expires_at)`);
  await knex.raw(`create table auth.workspace_policies (
    workspace_id uuid primary key,
    requires_second_factor boolean not null,
    changed_by uuid not null,
    changed_at timestamptz not null default now()
  )`);
  await knex.raw(`alter table auth.sessions add column method text, add column confirmed_at timestamptz`);
  await knex.raw(`alter table auth.pending_requests drop constraint pending_requests_kind_check,
    add constraint pending_requests_kind_check check (kind in ('authorization', 'provider', 'connect', 'factor', 'totp'))`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`delete from auth.pending_requests where kind in ('factor', 'totp')`);
  await knex.raw(`alter table auth.pending_requests drop constraint pending_requests_kind_check,
    add constraint pending_requests_kind_check check (kind in ('authorization', 'provider', 'connect'))`);
  await knex.raw(`alter table auth.sessions drop column method, drop column confirmed_at`);
  await knex.raw(
    `drop table auth.workspace_policies, auth.used_challenges, auth.recovery_codes, auth.totp, auth.passkeys`,
  );
}
