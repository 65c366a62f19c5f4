import type { Knex } from 'knex';

/**
 * Links that people get by mail or from the operator. Each is used once, by one update, and stored for a while after its end, so that its
 * page says why it works no more. `content` is sealed: what waits for the link, such as a registration.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.mail_links (
    id uuid primary key,
    hash bytea not null unique check (length(hash) = 32),
    kind text not null check (kind in ('reset', 'verify', 'change', 'stop-change', 'registration', 'invitation')),
    account_id uuid references auth.accounts (id) on delete cascade,
    address text,
    browser_hash bytea check (length(browser_hash) = 32),
    content bytea,
    sealed_with text,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz,
    replaced_at timestamptz
  )`);
  await knex.raw(`create index mail_links_account_id_idx on auth.mail_links (account_id, kind)`);
  await knex.raw(`create index mail_links_expires_at_idx on auth.mail_links (expires_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.mail_links`);
}
