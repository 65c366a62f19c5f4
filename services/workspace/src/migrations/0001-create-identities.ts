import type { Knex } from 'knex';

/**
 * The person of each (issuer, subject) of a token. Rows are found by the hash of the pair, because the longest issuer does not
 * fit into an index entry of PostgreSQL.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table workspace.identities (
    identity_hash bytea primary key check (length(identity_hash) = 32),
    issuer text not null,
    subject text not null,
    user_id uuid not null,
    email text,
    email_verified boolean,
    created_at timestamptz not null default now(),
    person_created_at timestamptz
  )`);
  await knex.raw(`create index identities_user_id_idx on workspace.identities (user_id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table workspace.identities`);
}
