import {
  choice,
  date,
  flag,
  id,
  integer,
  pastTimestamp,
  rank,
  reference,
  references,
  repeatRule,
  text,
} from '../field.ts';
import { model } from '../model.ts';
import { PRIORITIES } from '../words/priorities.ts';

/** A new field is one line here and one migration: validation, API, bootstrap, log and documentation are derived from it. */
export const Task = model({
  name: 'Task',
  table: 'tasks',
  doc: 'A task.',
  audience: { kind: 'project', field: 'projectId' },
  archivable: true,
  event: 'task',
  permissions: { insert: 'anyone', update: 'own', delete: 'own' },
  unique: [['workspaceId', 'number']],
  owners: ['creatorId', 'assigneeId'],
  search: ['title', 'description'],
  indexes: {
    tasks_trash_idx: '(group_id, archived_at, id) where archived_at is not null',
    tasks_purge_idx: '(archived_at, id) where archived_at is not null',
    tasks_due_idx:
      '(repeat_next_date, workspace_id, id) where repeat_next_date is not null and archived_at is null and repeat_error is null',
    tasks_repeat_stopped_idx: '(id) where repeat_waiting or repeat_error is not null',
  },
  commands: { repeatSkip: 'Moves the task to the next day of its `repeatRule`, without completing it.' },
  orders: ['completedAt'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace it belongs to.', immutable: true }),
    number: integer(
      { min: 1, max: 2_147_483_647 },
      { doc: 'Number of the task in its workspace, counted up by the server.', assigned: 'counter', immutable: true },
    ),
    title: text({ min: 1, max: 500 }, { doc: 'Title.' }),
    description: text({ max: 50_000 }, { doc: 'Markdown.', nullable: true }),
    projectId: reference('Project', 'delete', {
      doc: 'The project it belongs to. Into a private project only its creator, the creator and the lead of its project, and owners and admins move it.',
      nullable: true,
    }),
    teamId: reference('Team', 'clear', { doc: 'The team it belongs to.', nullable: true }),
    assigneeId: reference('User', 'keep', {
      doc: 'The person who does it, who must be a member of the workspace.',
      nullable: true,
      inverse: 'assignedTasks',
    }),
    creatorId: reference('User', 'keep', { doc: 'The person who created it.', assigned: 'actor', immutable: true }),
    start: choice(['not_started', 'started', 'someday'], { doc: 'Whether work is planned.', initial: 'not_started' }),
    startBucket: choice(['today', 'evening', 'upcoming'], { doc: 'Part of the day, or later.', initial: 'today' }),
    startDate: date({ doc: 'Planned start day.', nullable: true }),
    todayIndexReferenceDate: date({ doc: 'Day for which its position in Today was set.', nullable: true }),
    deadlineAt: date({ doc: 'Due day.', nullable: true }),
    priority: integer(
      { min: 0, max: PRIORITIES.length - 1 },
      { doc: `${PRIORITIES.map((word, number) => `${number} ${word}`).join(', ')}.`, initial: 0 },
    ),
    labelIds: references('Label', 'clear', 50, { doc: 'Ids of its labels.', initial: [] }),
    sortOrder: rank({ doc: 'Sort position in lists.', initial: '' }),
    repeatRule: repeatRule({
      doc: 'How it repeats: an RFC 5545 RRULE such as `FREQ=WEEKLY;BYDAY=MO,TH`, daily or slower, in capitals. Only the newest task of a series has it: completing that one, or its next day, creates the next task and moves the rule there. Null ends the series. A rule by months without a day of the month takes that of `repeatAnchor`, clamped to the last day of a shorter month.',
      nullable: true,
    }),
    repeatFrom: choice(['date', 'completion'], {
      doc: 'What the next task counts from: `date`, the days of the rule, also while this task is open; `completion`, the day on which this one is completed.',
      initial: 'date',
    }),
    repeatAnchor: date({
      doc: 'The first day of the rule, from which its intervals count.',
      nullable: true,
      assigned: 'server',
    }),
    repeatIndex: integer(
      { min: 1, max: 2_147_483_647 },
      {
        doc: 'Its number in the series, with the days that passed; COUNT ends at it.',
        nullable: true,
        assigned: 'server',
      },
    ),
    repeatTemplateId: id({
      doc: 'The id of its series, which all its tasks have, also after it ended.',
      nullable: true,
      assigned: 'server',
      isIndexed: true,
    }),
    repeatNextDate: date({
      doc: 'The day on which the next task is created although this one is open, in the time zone of the workspace; null where completing this one creates it, and at the end of the series.',
      nullable: true,
      assigned: 'server',
    }),
    repeatWaiting: flag({
      doc: 'Too many tasks of its series are open, so the series goes on when some are completed.',
      initial: false,
      assigned: 'server',
    }),
    repeatError: text(
      { max: 500 },
      {
        doc: 'Why the next task could not be created. Any change of this one tries again.',
        nullable: true,
        assigned: 'server',
      },
    ),
    completedAt: pastTimestamp({
      doc: 'When it was completed, at most one day in the future; null while it is open. Set it to complete the task.',
      nullable: true,
    }),
  },
});

export const TaskChecklistItem = model({
  name: 'TaskChecklistItem',
  table: 'task_checklist_items',
  doc: 'An item of the checklist of a task.',
  audience: { kind: 'parent', field: 'taskId' },
  permissions: { insert: 'own', update: 'own', delete: 'own' },
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace of its task.', immutable: true }),
    taskId: reference('Task', 'delete', { doc: 'The task it belongs to.', immutable: true, inverse: 'checklist' }),
    title: text({ min: 1, max: 500 }, { doc: 'Title.' }),
    completedAt: pastTimestamp({
      doc: 'When it was checked off, at most one day in the future; null while it is open.',
      nullable: true,
    }),
    sortOrder: rank({ doc: 'Sort position in the list.', initial: '' }),
  },
});
