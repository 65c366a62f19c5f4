import type { Knex } from 'knex';

/** Personal API keys. Only the SHA-256 of a token is stored. */
export async function up(knex: Knex): Promise<void> {
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
    revoked_at timestamptz
  )`);
  await knex.raw(`create index api_keys_user_id_idx on workspace.api_keys (user_id, created_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table workspace.api_keys`);
}
