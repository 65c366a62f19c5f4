import type { Knex } from 'knex';
import { copyFromWorkspace } from '../store/copy-from-workspace.ts';

const COLUMNS = [
  'id',
  'user_id',
  'label',
  'key_prefix',
  'token_hash',
  'permissions',
  'workspace_id',
  'expires_at',
  'created_at',
  'last_used_at',
  'revoked_at',
  'made_by',
  'made_by_key',
];

/**
 * Personal API keys. Only the SHA-256 of a token is stored. `made_by`: what created the key, a session or another key; null for
 * keys from before this was stored, or created by an operator. The workspace service kept the keys before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.api_keys (
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
    made_by_key uuid references auth.api_keys (id),
    check ((made_by_key is not null) = (made_by is not distinct from 'api_key'))
  )`);
  await copyFromWorkspace(knex, 'api_keys', COLUMNS);
  await knex.raw(`create index api_keys_user_id_idx on auth.api_keys (user_id, created_at)`);
  await knex.raw(
    `create index api_keys_workspace_id_idx on auth.api_keys (workspace_id) where workspace_id is not null`,
  );
  await knex.raw(`create index api_keys_revoked_at_idx on auth.api_keys (revoked_at) where revoked_at is not null`);
  await knex.raw(`create index api_keys_made_by_key_idx on auth.api_keys (made_by_key) where made_by_key is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.api_keys`);
}
