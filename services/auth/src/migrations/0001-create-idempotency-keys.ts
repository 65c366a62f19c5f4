import type { Knex } from 'knex';

/** Answers that are repeated for their `Idempotency-Key`; bodies are encrypted, keys are stored as HMACs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.idempotency_keys (
    key_hash bytea primary key check (length(key_hash) = 32),
    owner text not null,
    fingerprint bytea not null check (length(fingerprint) = 32),
    status smallint,
    body bytea,
    expires_at timestamptz not null
  )`);
  await knex.raw(`create index idempotency_keys_expires_at_idx on auth.idempotency_keys (expires_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.idempotency_keys`);
}
