import type { Knex } from 'knex';

/** The keys that sign access tokens. The private part is sealed with a key of AUTH_SECRET_KEY, whose id is `sealed_with`. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.signing_keys (
    id text primary key,
    public_jwk jsonb not null,
    private_key bytea not null,
    sealed_with text not null,
    signs_from timestamptz not null
  )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.signing_keys`);
}
