import type { Knex } from 'knex';
import { addField, dropFields } from '../store/add-field.ts';

/** The Trash: what a purge reads, how long workspaces keep their tasks, and workspaces that are archived themselves. */
export async function up(knex: Knex): Promise<void> {
  const table = 'workspaces';
  await addField(knex, { table, after: 'timeZone', field: 'trashRetentionDays', type: 'integer', initial: null });
  await addField(knex, { table, after: 'updatedAt', field: 'archivedAt', type: 'timestamptz', initial: null });
  await knex.raw(`create index workspaces_archived_idx on sync.workspaces (archived_at) where archived_at is not null`);
  await knex.raw(
    `create index tasks_trash_idx on sync.tasks (group_id, archived_at, id) where archived_at is not null`,
  );
  await knex.raw(`create index tasks_purge_idx on sync.tasks (archived_at, id) where archived_at is not null`);
  await knex.raw(`create table sync.purge_state (
    is_only_row boolean primary key default true check (is_only_row),
    retention_days integer not null,
    last_round_at timestamptz not null,
    waits_until timestamptz
  )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.purge_state`);
  await knex.raw(`drop index sync.tasks_purge_idx`);
  await knex.raw(`drop index sync.tasks_trash_idx`);
  await dropFields(knex, { table: 'workspaces', fields: ['trashRetentionDays', 'archivedAt'] });
}
