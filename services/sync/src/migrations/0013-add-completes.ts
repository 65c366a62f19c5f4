import type { Knex } from 'knex';

/** Entries of the log say whether a task or a project was completed by them. Older entries say that none was. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table sync.sync_actions add column completes boolean not null default false`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table sync.sync_actions drop column completes`);
}
