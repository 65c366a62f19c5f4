import type { Knex } from 'knex';

/** The wrong invitation codes of each person within the current minute. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table workspace.wrong_codes (
    user_id uuid primary key,
    attempts integer not null,
    ends_at timestamptz not null
  )`);
  await knex.raw(`create index wrong_codes_ends_at_idx on workspace.wrong_codes (ends_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table workspace.wrong_codes`);
}
