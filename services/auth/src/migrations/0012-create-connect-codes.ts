import type { Knex } from 'knex';

/**
 * Codes of `/account/connect`, each exchanged once for an API key with the access that the person chose. `uses` counts exchanges up to two:
 * a second one revokes the key. Requests of tools wait with those of OAuth clients.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.connect_codes (
    hash bytea primary key check (length(hash) = 32),
    user_id uuid not null,
    session_id uuid not null,
    challenge text not null,
    label text not null,
    permissions text not null check (permissions in ('read-only', 'full-access')),
    workspace_id uuid,
    key_expires_at timestamptz,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    uses int not null default 0,
    key_id uuid
  )`);
  await knex.raw(`create index connect_codes_user_idx on auth.connect_codes (user_id, created_at)`);
  await knex.raw(`alter table auth.pending_requests drop constraint pending_requests_kind_check,
    add constraint pending_requests_kind_check check (kind in ('authorization', 'provider', 'connect'))`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`delete from auth.pending_requests where kind = 'connect'`);
  await knex.raw(`alter table auth.pending_requests drop constraint pending_requests_kind_check,
    add constraint pending_requests_kind_check check (kind in ('authorization', 'provider'))`);
  await knex.raw(`drop table auth.connect_codes`);
}
