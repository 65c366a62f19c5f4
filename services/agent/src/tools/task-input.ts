import type { Names, WorkspaceRef } from '@wts/client/names';
import type { JsonSchema, TypeOf } from '@wts/contracts';
import { Task, type Model } from '@wts/models';
import { dayOf, PRIORITIES, type Today } from '@wts/models/words';
import { AGENT_LIMITS } from '../limits.ts';
import { inputOf } from '../views/fields.ts';
import { object, word, wordOrNull } from '../views/parts.ts';
import { HIDDEN } from '../views/task.ts';

const { fields: FIELDS } = Task;
const LABELS = { type: 'array', maxItems: AGENT_LIMITS.labelsMax, items: word('Name or id.') } as const;

/** Set by tools of their own. */
const BY_OTHER_TOOLS = ['completedAt'];

/** Fields that are set as they are declared: clients may set them, and they need no words. */
export function plainInputOf({ fields }: Model): Readonly<Record<string, JsonSchema>> {
  const left: readonly string[] = [...HIDDEN, ...BY_OTHER_TOOLS];
  const plain = Object.entries(fields).filter(
    ([name, { assigned, immutable, reference }]) =>
      assigned === undefined && !immutable && reference === undefined && !left.includes(name),
  );
  return Object.fromEntries(plain.map(([name, field]) => [name, inputOf(field)]));
}

/** What creating and changing a task have in common. */
export const TASK_INPUT = {
  ...(plainInputOf(Task) as object),
  title: inputOf(FIELDS.title),
  description: inputOf(FIELDS.description, 'Markdown.'),
  project: wordOrNull('Name, key or id of a project; null for none.'),
  team: wordOrNull('Name, key or id of a team; null for none.'),
  assignee: wordOrNull('"me", name, e-mail address or id of a member; null for no assignee.'),
  priority: { type: 'string', enum: PRIORITIES },
  start: inputOf(FIELDS.start),
  startDate: wordOrNull('Planned start: YYYY-MM-DD, "today", "next monday", "in 3 days", +2w; null for none.'),
  deadlineAt: wordOrNull('Due day, in the same words; null for none.'),
  repeatRule: inputOf(
    FIELDS.repeatRule,
    'RFC 5545 RRULE in capitals, daily or slower, such as FREQ=WEEKLY;BYDAY=MO,TH. Completing the task, or its next day, creates the next one, which takes the rule. Null for none, and to end the series.',
  ),
  repeatFrom: inputOf(
    FIELDS.repeatFrom,
    '"date" (default; needs startDate or deadlineAt): on the days of the rule, whether this one is done or not. "completion": counted from the day on which this one is done.',
  ),
  labels: { ...LABELS, description: 'Names or ids of all labels that the task has.' },
} as const;

export const SKIP = {
  skip: {
    type: 'boolean',
    const: true,
    description: 'Moves a task that repeats to the next day of its rule, without completing it.',
  },
} as const;

export const LABEL_CHANGES = {
  addLabels: { ...LABELS, description: 'Labels to add; the others stay.' },
  removeLabels: { ...LABELS, description: 'Labels to remove; the others stay.' },
} as const;

const ALL = object({ ...TASK_INPUT, ...LABEL_CHANGES, ...SKIP }, []);
type TaskWords = TypeOf<typeof ALL>;

/** What words are resolved with. */
export interface Resolving {
  readonly names: Names;
  readonly workspace: WorkspaceRef;
  readonly today: Today;
}

/** The input of GraphQL for words: names become ids, days become dates. Throws for a word that fits nothing. */
export async function taskInputOf(words: TaskWords, { names, workspace, today }: Resolving): Promise<object> {
  const { project, team, assignee, priority, startDate, deadlineAt } = words;
  const [projectId, teamId, assigneeId, labelIds, addedLabelIds, removedLabelIds] = await Promise.all([
    resolved(project, (given) => names.project(given, workspace)),
    resolved(team, (given) => names.team(given, workspace)),
    resolved(assignee, (given) => names.person(given, workspace)),
    words.labels && names.labels(words.labels, workspace),
    words.addLabels && names.labels(words.addLabels, workspace),
    words.removeLabels && names.labels(words.removeLabels, workspace),
  ]);
  const day = (given: string | null | undefined): string | null | undefined =>
    typeof given === 'string' ? dayOf(given, today) : given;
  const input = {
    ...Object.fromEntries(Object.entries(words).filter(([name]) => Object.hasOwn(FIELDS, name))),
    projectId,
    teamId,
    assigneeId,
    labelIds,
    addedLabelIds,
    removedLabelIds,
    priority: priority && PRIORITIES.indexOf(priority),
    startDate: day(startDate),
    deadlineAt: day(deadlineAt),
    repeatSkip: words.skip,
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** Null removes a value, and what is not given stays. */
export async function resolved(
  given: string | null | undefined,
  find: (given: string) => Promise<string>,
): Promise<string | null | undefined> {
  return typeof given === 'string' ? find(given) : given;
}
