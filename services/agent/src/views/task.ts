import { taskKey } from '@wts/client/names';
import { typed } from '@wts/contracts';
import { Task, type Model, type RecordOf } from '@wts/models';
import { PRIORITIES, repeatText, stateOf, TASK_STATES, type Priority } from '@wts/models/words';
import { viewOf, type Keyed, type Named, type View } from './fields.ts';
import { text, textOrNull } from './parts.ts';

/** What a model of language does not need: places in lists of the app, and what is shown in another form. */
export const HIDDEN = [
  'number',
  'startBucket',
  'todayIndexReferenceDate',
  'sortOrder',
  'repeatAnchor',
  'repeatIndex',
  'repeatTemplateId',
  'repeatWaiting',
] as const;

/** The view of a task. `declared` is Task, or in a test a Task with one more field. */
export function viewOfTask(declared: Model): View<object> {
  return viewOf(declared, {
    hidden: HIDDEN,
    shown: { priority: { type: 'string', enum: PRIORITIES } },
    texts: {
      startDate: 'Planned start day, YYYY-MM-DD.',
      deadlineAt: 'Due day, YYYY-MM-DD.',
      repeatNextDate: 'The day on which the next one is created although this one is open.',
      repeatError: 'Why the next one could not be created.',
      description: 'Markdown.',
    },
  });
}

const { properties, selection } = viewOfTask(Task);
const TASK_FIELDS = {
  id: text,
  key: { ...text, description: 'For people, such as ACME-12: urlKey of the workspace and number.' },
  status: { type: 'string', enum: TASK_STATES.filter((state) => state !== 'any') },
  ...properties,
  repeatText: { ...textOrNull, description: '`repeatRule` in words.' },
};

type Ids = 'projectId' | 'teamId' | 'assigneeId' | 'creatorId' | 'labelIds';

/** The fields of `TASK_FRAGMENT`, and a description where it was asked for. */
export interface TaskNode extends Omit<
  RecordOf<typeof Task>,
  Ids | Exclude<(typeof HIDDEN)[number], 'number' | 'repeatAnchor'> | 'description'
> {
  readonly description?: string | null;
  readonly workspace: { readonly urlKey: string } | null;
  readonly project: Keyed | null;
  readonly team: Keyed | null;
  readonly assignee: Named | null;
  readonly creator: Named | null;
  readonly labels: { readonly nodes: readonly Named[] };
}

/** The task after a completed one in its series. */
export interface NextTask extends Pick<TaskNode, 'number' | 'workspace' | 'startDate' | 'deadlineAt'> {}

export const NEXT_TASK = '{ number workspace { urlKey } startDate deadlineAt }';

interface WholeView extends Omit<TaskNode, 'number' | 'workspace' | 'labels' | 'priority' | 'repeatAnchor'> {
  readonly repeatText: string | null;
  readonly key: string;
  readonly status: ReturnType<typeof stateOf>;
  readonly priority: Priority;
  readonly labels: readonly Named[];
}

/** A task, perhaps with fewer fields. */
export type TaskView = Pick<WholeView, 'id' | 'key'> & Partial<WholeView>;
export const TASK = typed<TaskView>({
  type: 'object',
  additionalProperties: false,
  required: ['id', 'key'],
  properties: TASK_FIELDS,
});

const TASK_FIELD_NAMES = Object.keys(TASK_FIELDS);
export const FIELDS = {
  type: 'array',
  minItems: 1,
  maxItems: TASK_FIELD_NAMES.length,
  items: { type: 'string', enum: TASK_FIELD_NAMES },
  description:
    'Fields of each task in the answer, to keep it small; id and key are always there. Default: all but description, of which lists show the beginning.',
} as const;

/** A description may be long, so only those documents select it that show it. */
export const TASK_FRAGMENT = `fragment TaskFields on Task {
  number repeatAnchor workspace { urlKey } ${selection.filter((field) => field !== 'description').join(' ')}
}`;

export function taskView(node: TaskNode, fields?: readonly string[]): TaskView {
  const { id, number, workspace, labels, priority, repeatAnchor, ...rest } = node;
  const task: WholeView = {
    id,
    key: taskKey(workspace?.urlKey ?? '', number),
    status: stateOf(node),
    priority: PRIORITIES[priority] ?? 'none',
    labels: labels.nodes,
    repeatText: repeatText({ ...rest, repeatAnchor }),
    ...rest,
  };
  if (fields === undefined) return task;
  const kept = new Set<string>(['id', 'key', ...fields]);
  return Object.fromEntries(Object.entries(task).filter(([name]) => kept.has(name))) as TaskView;
}
