import { choice, date, integer, pastTimestamp, rank, reference, references, repeatRule, text } from '../field.ts';
import { model } from '../model.ts';

/** A new field is one line here and one migration: validation, wire, bootstrap, log and documentation follow from the line. */
export const Task = model({
  name: 'Task',
  table: 'tasks',
  doc: 'A piece of work.',
  audience: { kind: 'project', field: 'projectId' },
  archivable: true,
  event: 'task',
  permissions: { insert: 'anyone', update: 'own', delete: 'own' },
  unique: [['workspaceId', 'number']],
  owners: ['creatorId', 'assigneeId'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'Home.', immutable: true }),
    number: integer(
      { min: 1, max: 2_147_483_647 },
      { doc: 'Counts up within the workspace.', assigned: 'counter', immutable: true },
    ),
    title: text({ min: 1, max: 500 }, { doc: 'What is to be done.' }),
    description: text({ max: 50_000 }, { doc: 'Markdown.', nullable: true }),
    projectId: reference('Project', 'delete', { doc: 'Project it belongs to.', nullable: true }),
    teamId: reference('Team', 'clear', { doc: 'Team it belongs to.', nullable: true }),
    assigneeId: reference('User', 'keep', { doc: 'Who does it; a member of the workspace.', nullable: true }),
    creatorId: reference('User', 'keep', { doc: 'Who made it.', assigned: 'actor', immutable: true }),
    start: choice(['not_started', 'started', 'someday'], { doc: 'Whether work is planned.', initial: 'not_started' }),
    startBucket: choice(['today', 'evening', 'upcoming'], { doc: 'Part of the day or later.', initial: 'today' }),
    startDate: date({ doc: 'Day to begin.', nullable: true }),
    todayIndexReferenceDate: date({ doc: 'Day its place in Today was set for.', nullable: true }),
    deadlineAt: date({ doc: 'Day it must be done.', nullable: true }),
    priority: integer({ min: 0, max: 4 }, { doc: '0 none, 1 urgent to 4 low.', initial: 0 }),
    labelIds: references('Label', 'clear', 50, { doc: 'Its labels.', initial: [] }),
    sortOrder: rank({ doc: 'Place in lists.', initial: '' }),
    repeatRule: repeatRule({
      doc: 'When it repeats: an RFC 5545 RRULE such as `FREQ=WEEKLY;BYDAY=MO,TH`, daily or slower, in capitals.',
      nullable: true,
    }),
    repeatTemplateId: reference('Task', 'clear', { doc: 'First of its series.', nullable: true }),
    completedAt: pastTimestamp({ doc: 'When it was done, at most a day ahead; null while open.', nullable: true }),
  },
});

export const TaskChecklistItem = model({
  name: 'TaskChecklistItem',
  table: 'task_checklist_items',
  doc: 'A step of a task.',
  audience: { kind: 'parent', field: 'taskId' },
  permissions: { insert: 'own', update: 'own', delete: 'own' },
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'Home; the workspace of its task.', immutable: true }),
    taskId: reference('Task', 'delete', { doc: 'Its task.', immutable: true }),
    title: text({ min: 1, max: 500 }, { doc: 'What is to be done.' }),
    completedAt: pastTimestamp({ doc: 'When it was ticked, at most a day ahead; null while open.', nullable: true }),
    sortOrder: rank({ doc: 'Place in the list.', initial: '' }),
  },
});
