import type { Knex } from 'knex';
import { addField, addFields, dropFields } from '../store/add-field.ts';

// Contracts sync.tasks.repeat_from, sync.tasks.repeat_waiting, sync.workspaces.time_zone: the upgrade from 0.1.0 stops the system.

const FIELDS = [
  { field: 'repeatFrom', type: 'text', initial: `'date'` },
  { field: 'repeatAnchor', type: 'date', initial: null },
  { field: 'repeatIndex', type: 'integer', initial: null },
  { field: 'repeatTemplateId', type: 'uuid', initial: null },
  { field: 'repeatNextDate', type: 'date', initial: null },
  { field: 'repeatWaiting', type: 'boolean', initial: 'false' },
  { field: 'repeatError', type: 'text', initial: null },
] as const;

/**
 * Each task that has a rule becomes a series of its own; the scheduler computes the next day of an open one when it looks at it first. A
 * client could set any `repeatTemplateId`: it stays where no other task with a rule has it, or is the task that it names.
 */
const BEGIN_SERIES = `
  update sync.tasks t set
    repeat_from = case when start_date is null and deadline_at is null then 'completion' else 'date' end,
    repeat_anchor = coalesce(start_date, deadline_at, (created_at at time zone 'UTC')::date),
    repeat_index = 1,
    repeat_template_id = coalesce(
      case when not exists (select from sync.tasks o where o.repeat_template_id = t.repeat_template_id
          and o.repeat_rule is not null and o.id < t.id)
        and not exists (select from sync.tasks o where o.id = t.repeat_template_id and o.repeat_rule is not null)
        then repeat_template_id end,
      id),
    repeat_next_date = case when completed_at is null then coalesce(start_date, deadline_at) end
  where repeat_rule is not null`;

/** Repeating tasks, and the time zone in which their days begin. */
export async function up(knex: Knex): Promise<void> {
  await addFields(knex, { table: 'tasks', after: 'repeatRule', fields: FIELDS, fill: BEGIN_SERIES });
  await knex.raw(`create index tasks_due_idx on sync.tasks (repeat_next_date, workspace_id, id)
    where repeat_next_date is not null and archived_at is null and repeat_error is null`);
  await knex.raw(
    `create index tasks_repeat_stopped_idx on sync.tasks (id) where repeat_waiting or repeat_error is not null`,
  );
  await addField(knex, { table: 'workspaces', after: 'logoUrl', field: 'timeZone', type: 'text', initial: `'UTC'` });
}

export async function down(knex: Knex): Promise<void> {
  await dropFields(knex, { table: 'workspaces', fields: ['timeZone'] });
  const added = FIELDS.map(({ field }) => field).filter((field) => field !== 'repeatTemplateId');
  await dropFields(knex, { table: 'tasks', fields: added });
}
