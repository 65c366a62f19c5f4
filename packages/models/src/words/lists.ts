import { dayOf, type Today } from './days.ts';

/*
 * The lists of tasks that every client shows, the states of a task, and their conditions: `TaskFilter` of GraphQL.
 */

/** What each list holds, besides that its tasks are open; those of the logbook are done. */
export const TASK_LISTS = {
  inbox: 'no plan yet',
  today: 'starts or is due today or before',
  upcoming: 'starts later',
  anytime: 'started, no day',
  someday: 'put off',
  logbook: 'done',
} as const;

export type TaskList = keyof typeof TASK_LISTS;

export const TASK_STATES = ['open', 'done', 'archived', 'any'] as const;
export type TaskState = (typeof TASK_STATES)[number];

const OF_STATES = {
  open: [{ completedAt: { null: true } }],
  done: [{ completedAt: { null: false } }],
  archived: [{ archivedAt: { null: false } }],
  any: [],
} as const;

const UNDATED = { startDate: { null: true }, deadlineAt: { null: true } };

/** The conditions of tasks in a list and a state; without a state, of open ones, in the logbook of done ones. */
export function tasksOfList(
  {
    list,
    state = list === 'logbook' ? 'done' : 'open',
  }: { readonly list?: TaskList | undefined; readonly state?: TaskState | undefined },
  { day }: Today,
): { readonly conditions: readonly object[]; readonly includeArchived: boolean } {
  const ofList = {
    inbox: { start: { eq: 'not_started' }, ...UNDATED },
    today: { or: [{ startDate: { lte: day } }, { deadlineAt: { lte: day } }] },
    upcoming: { startDate: { gt: day } },
    anytime: { start: { eq: 'started' }, ...UNDATED },
    someday: { start: { eq: 'someday' } },
    logbook: { completedAt: { null: false } },
  };
  return {
    conditions: [...OF_STATES[state], ...(list === undefined ? [] : [ofList[list]])],
    includeArchived: state === 'archived' || state === 'any',
  };
}

/** The condition that a day is from one word to another, both included. Throws a WordError. */
export function between(
  field: string,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: Today,
): object[] {
  const bounds = [
    ...(from === undefined ? [] : [['gte', dayOf(from, today)]]),
    ...(to === undefined ? [] : [['lte', dayOf(to, today)]]),
  ];
  return bounds.length === 0 ? [] : [{ [field]: Object.fromEntries(bounds) as object }];
}

/** The state of one task. */
export function stateOf({
  completedAt,
  archivedAt,
}: {
  readonly completedAt: string | null;
  readonly archivedAt: string | null;
}): Exclude<TaskState, 'any'> {
  if (archivedAt !== null) return 'archived';
  return completedAt === null ? 'open' : 'done';
}
