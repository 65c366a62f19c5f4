import type { Knex } from 'knex';

export const formerName = '0004-remember-client-models';

/** The models of each published client, by the hash of its schema: `bootstrap/client-models.ts`. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table sync.client_models (
    user_id uuid not null,
    schema_hash text not null,
    models text not null,
    seen_at timestamptz not null default now(),
    primary key (user_id, schema_hash)
  )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.client_models`);
}
