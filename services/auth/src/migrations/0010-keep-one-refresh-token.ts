import type { Knex } from 'knex';

/**
 * A grant has the hash of its current refresh token only. All its tokens begin with the same secret, the family, so an older one is
 * recognized without a row of its own. A token from before this migration is its own family. `refresh_nonce` is what the current
 * token was derived with, from the one before it.
 */
export async function up(knex: Knex): Promise<void> {
  // In the order in which an earlier version rotates a token, so that the two do not deadlock.
  await knex.raw(`lock table auth.refresh_tokens in access exclusive mode`);
  await knex.raw(`alter table auth.grants
    add column refresh_family bytea check (length(refresh_family) = 32),
    add column refresh_hash bytea check (length(refresh_hash) = 32),
    add column refresh_predecessor bytea check (length(refresh_predecessor) = 32),
    add column refresh_nonce bytea check (length(refresh_nonce) = 32),
    add column refreshed_at timestamptz`);
  await knex.raw(`update auth.grants g set refresh_family = t.hash, refresh_hash = t.hash, refreshed_at = now()
    from auth.refresh_tokens t where t.grant_id = g.id and t.used_at is null`);
  await knex.raw(`create unique index grants_refresh_family_idx on auth.grants (refresh_family)`);
  await knex.raw(`drop table auth.refresh_tokens`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.refresh_tokens (
    hash bytea primary key check (length(hash) = 32),
    grant_id uuid not null references auth.grants on delete cascade,
    predecessor bytea,
    expires_at timestamptz not null,
    used_at timestamptz
  )`);
  await knex.raw(`create index refresh_tokens_grant_idx on auth.refresh_tokens (grant_id)`);
  await knex.raw(`create index refresh_tokens_predecessor_idx on auth.refresh_tokens (predecessor)`);
  await knex.raw(`create index refresh_tokens_expires_at_idx on auth.refresh_tokens (expires_at)`);
  await knex.raw(`insert into auth.refresh_tokens (hash, grant_id, expires_at)
    select refresh_hash, id, expires_at from auth.grants where refresh_hash is not null`);
  await knex.raw(`alter table auth.grants drop column refresh_family, drop column refresh_hash,
    drop column refresh_predecessor, drop column refresh_nonce, drop column refreshed_at`);
}
