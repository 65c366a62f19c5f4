import { taskKey } from '@wts/client/names';
import { PRIORITIES } from '@wts/models/words';
import type { Look, Style } from '../output/look.ts';
import type { ChangedRecord } from '../output/output.ts';
import { exactDayText } from '../output/times.ts';
import { agoColumn, dayColumn, type Column, type View } from '../output/view.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Keyed extends Named {
  readonly key: string;
}

/** A task as GraphQL has it, with the fields that were selected. */
export interface TaskNode {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly description: string | null;
  readonly workspace: { readonly id: string; readonly urlKey: string; readonly name: string } | null;
  readonly project: Keyed | null;
  readonly team: Keyed | null;
  readonly assignee: Named | null;
  readonly creator: Named | null;
  readonly start: string;
  readonly startDate: string | null;
  readonly deadlineAt: string | null;
  readonly priority: number;
  readonly labels: { readonly nodes: readonly Named[] };
  readonly repeatText: string | null;
  readonly repeatNextDate: string | null;
  readonly completedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly archivedAt: string | null;
}

/** For people: `ACME-12`. */
export function keyOf({ workspace, number }: Pick<TaskNode, 'workspace' | 'number'>): string {
  return taskKey(workspace?.urlKey ?? '', number);
}

export function priorityWord(priority: number): string {
  return PRIORITIES[priority] ?? String(priority);
}

/** A day that has passed is shown in red where the task is open. */
function dueStyle({ deadlineAt, completedAt }: TaskNode, { now, timezone }: Look): Style | undefined {
  if (deadlineAt === null || completedAt !== null) return undefined;
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: timezone }).format(now);
  return deadlineAt < today ? 'red' : deadlineAt === today ? 'yellow' : undefined;
}

/** The most telling ones first, because a narrow terminal shows only those. */
const COLUMNS: readonly Column<TaskNode>[] = [
  { title: 'KEY', value: keyOf, style: () => 'cyan' },
  {
    title: 'TITLE',
    value: ({ title }) => title,
    isCut: true,
    style: ({ completedAt, archivedAt }) => ((completedAt ?? archivedAt) === null ? undefined : 'dim'),
  },
  { ...dayColumn('DUE', ({ deadlineAt }) => deadlineAt), style: dueStyle },
  {
    title: 'PRIORITY',
    value: ({ priority }) => priorityWord(priority),
    shown: ({ priority }) => (priority === 0 ? '' : priorityWord(priority)),
    style: ({ priority }) => (priority === 1 ? 'red' : priority === 2 ? 'yellow' : undefined),
  },
  { title: 'ASSIGNEE', value: ({ assignee }) => assignee?.name, isCut: true },
  {
    title: 'PROJECT',
    value: ({ project }) => project?.key,
    shown: ({ project }) => project?.name ?? '',
    isCut: true,
  },
  { title: 'LABELS', value: ({ labels }) => labels.nodes.map(({ name }) => name).join(', '), isCut: true },
  dayColumn('START', ({ startDate }) => startDate),
  agoColumn('DONE', ({ completedAt }) => completedAt),
];

export const TASK_VIEW: View<TaskNode> = { nouns: ['task', 'tasks'], id: ({ id }) => id, columns: COLUMNS };

/** The fields that the columns show. */
export const LISTED = [
  'project',
  'assignee',
  'priority',
  'startDate',
  'deadlineAt',
  'labels',
  'completedAt',
  'archivedAt',
];

/** The fields that the line of a change shows. */
export const CHANGED = ['project', 'assignee', 'startDate', 'deadlineAt', 'completedAt', 'repeatText'];

/** What happened to a task: its key, its title, and what is new about it. */
export function changedTask(verb: string, look: Look): (task: TaskNode) => ChangedRecord {
  return (task) => ({
    id: task.id,
    key: keyOf(task),
    line: `${verb} ${keyOf(task)} ${task.title}${factsText(task, look)}`,
  });
}

/** Days as they were understood, and whatever else was selected for it. */
function factsText(
  { project, assignee, startDate, deadlineAt, completedAt, repeatText }: Partial<TaskNode>,
  look: Look,
): string {
  const facts = [
    project && `in ${project.name}`,
    assignee && `for ${assignee.name}`,
    startDate && `starts ${exactDayText(startDate, look)}`,
    deadlineAt && !completedAt && `due ${exactDayText(deadlineAt, look)}`,
    repeatText && `repeats ${repeatText}`,
  ].filter((fact) => typeof fact === 'string');
  return facts.length === 0 ? '' : `, ${facts.join(', ')}`;
}
