import type { Knex } from 'knex';

/**
 * What waits for a person: authorization requests of clients until the consent, and sign-ins at the identity provider until the
 * browser returns. Only the browser that began one can continue it. `content` is JSON in a text, because a client may send
 * characters that `jsonb` refuses.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.pending_requests (
    id_hash bytea primary key check (length(id_hash) = 32),
    kind text not null check (kind in ('authorization', 'provider')),
    browser_hash bytea not null check (length(browser_hash) = 32),
    content text not null,
    expires_at timestamptz not null
  )`);
  await knex.raw(`create index pending_requests_expires_at_idx on auth.pending_requests (expires_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.pending_requests`);
}
