import type { Knex } from 'knex';

/**
 * Invitations. Only the SHA-256 of a code is stored. An invitation with an address is for one use: `claimed_by` is set before
 * the person becomes a member, `redeemed_at` after.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table workspace.invitations (
    id uuid primary key,
    workspace_id uuid not null,
    email text,
    role text not null check (role in ('admin', 'member', 'guest')),
    code_hash bytea not null unique check (length(code_hash) = 32),
    created_by uuid not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    claimed_by uuid,
    redeemed_at timestamptz
  )`);
  await knex.raw(`create index invitations_workspace_id_idx on workspace.invitations (workspace_id, created_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table workspace.invitations`);
}
