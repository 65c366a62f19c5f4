import { taskKey } from '@wts/client/names';
import type { TypeOf } from '@wts/contracts';
import { PRIORITIES, stateOf } from '@wts/models/words';
import { list, object, text, textOrNull } from './parts.ts';

export const STARTS = ['not_started', 'started', 'someday'] as const;

/** A record that a task names. */
export const NAMED = object({ id: text, name: text }, ['id', 'name']);
const KEYED = object({ id: text, key: text, name: text }, ['id', 'key', 'name']);

const TASK_FIELDS = {
  id: text,
  key: { ...text, description: 'For people, such as ACME-12: urlKey of the workspace and number.' },
  title: text,
  status: { type: 'string', enum: ['open', 'done', 'archived'] },
  priority: { type: 'string', enum: PRIORITIES },
  project: { anyOf: [KEYED, { type: 'null' }] },
  team: { anyOf: [KEYED, { type: 'null' }] },
  assignee: { anyOf: [NAMED, { type: 'null' }] },
  creator: { anyOf: [NAMED, { type: 'null' }] },
  labels: list(NAMED),
  start: { type: 'string', enum: STARTS },
  startDate: { ...textOrNull, description: 'Planned start day, YYYY-MM-DD.' },
  deadlineAt: { ...textOrNull, description: 'Due day, YYYY-MM-DD.' },
  repeatRule: { ...textOrNull, description: 'How it repeats; the server does not act on it yet.' },
  completedAt: textOrNull,
  archivedAt: textOrNull,
  createdAt: text,
  updatedAt: text,
  workspaceId: text,
  description: { ...textOrNull, description: 'Markdown.' },
} as const;

export type TaskField = keyof typeof TASK_FIELDS;
const TASK_FIELD_NAMES = Object.keys(TASK_FIELDS) as readonly TaskField[];

/** A task, perhaps with fewer fields. */
export const TASK = object(TASK_FIELDS, ['id', 'key']);
export type TaskView = TypeOf<typeof TASK>;

export const FIELDS = {
  type: 'array',
  minItems: 1,
  maxItems: TASK_FIELD_NAMES.length,
  items: { type: 'string', enum: TASK_FIELD_NAMES },
  description:
    'Fields of each task in the answer, to keep it small; id and key are always there. Default: all but description, of which lists show the beginning.',
} as const;

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Keyed extends Named {
  readonly key: string;
}

/** The fields of `TASK_FRAGMENT`. */
export interface TaskNode {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly description?: string | null;
  readonly priority: number;
  readonly start: (typeof STARTS)[number];
  readonly startDate: string | null;
  readonly deadlineAt: string | null;
  readonly repeatRule: string | null;
  readonly completedAt: string | null;
  readonly archivedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly workspaceId: string;
  readonly workspace: { readonly urlKey: string } | null;
  readonly project: Keyed | null;
  readonly team: Keyed | null;
  readonly assignee: Named | null;
  readonly creator: Named | null;
  readonly labels: { readonly nodes: readonly Named[] };
}

export const TASK_FRAGMENT = `fragment TaskFields on Task {
  id number title priority start startDate deadlineAt repeatRule completedAt archivedAt createdAt updatedAt workspaceId
  workspace { urlKey }
  project { id key name }
  team { id key name }
  assignee { id name }
  creator { id name }
  labels(first: 50, includeArchived: true) { nodes { id name } }
}`;

export function taskView(node: TaskNode, fields?: readonly TaskField[]): TaskView {
  const { number, workspace, labels, description, priority, completedAt, archivedAt } = node;
  const task: TaskView = {
    id: node.id,
    key: taskKey(workspace?.urlKey ?? '', number),
    title: node.title,
    status: stateOf(node),
    priority: PRIORITIES[priority] ?? 'none',
    project: node.project,
    team: node.team,
    assignee: node.assignee,
    creator: node.creator,
    labels: labels.nodes,
    start: node.start,
    startDate: node.startDate,
    deadlineAt: node.deadlineAt,
    repeatRule: node.repeatRule,
    completedAt,
    archivedAt,
    createdAt: node.createdAt,
    updatedAt: node.updatedAt,
    workspaceId: node.workspaceId,
    ...(description === undefined ? {} : { description }),
  };
  if (fields === undefined) return task;
  const kept = new Set<string>(['id', 'key', ...fields]);
  return Object.fromEntries(Object.entries(task).filter(([name]) => kept.has(name))) as TaskView;
}
