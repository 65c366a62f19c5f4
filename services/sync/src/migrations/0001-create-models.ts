import { MODELS, tableSql } from '@wts/models';
import type { Knex } from 'knex';

/** A table for every model of the registry. Fields that come later are added by migrations of their own. */
export async function up(knex: Knex): Promise<void> {
  for (const model of MODELS) for (const statement of tableSql(model)) await knex.raw(statement);
  await knex.raw(`create table sync.task_counters (workspace_id uuid primary key, last_number integer not null)`);
  await knex.raw(
    `create table sync.user_audiences (user_id uuid not null, group_id uuid not null, primary key (user_id, group_id))`,
  );
  await knex.raw(`create index user_audiences_group_id_idx on sync.user_audiences (group_id, user_id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.user_audiences`);
  await knex.raw(`drop table sync.task_counters`);
  for (const { table } of MODELS.toReversed()) await knex.raw(`drop table sync.${table}`);
}
