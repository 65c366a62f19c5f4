import { between, PRIORITIES, tasksOfList, todayIn, type TaskList, type TaskState } from '@wts/models/words';
import type { Call } from '../call.ts';
import { LISTED, TASK_VIEW, type TaskNode } from '../records/task.ts';
import { TASK_FIELD_NAMES, taskSelection } from '../records/fields.ts';
import { limitOf, noteMore, pagesOf } from './pages.ts';

const ORDERS: Readonly<Record<string, readonly object[]>> = {
  newest: [{ createdAt: 'DESC' }],
  oldest: [{ createdAt: 'ASC' }],
  updated: [{ updatedAt: 'DESC' }],
  due: [{ deadlineAt: 'ASC' }],
  start: [{ startDate: 'ASC' }],
  completed: [{ completedAt: 'DESC' }],
  title: [{ title: 'ASC' }],
};

const LIMIT_DEFAULT = 50;

export async function list(call: Call): Promise<void> {
  return listTasks(call, {
    list: call.options.text('list') as TaskList | undefined,
    state: call.options.text('state') as TaskState | undefined,
    isMine: false,
  });
}

const listing = (name: TaskList) => (call: Call) =>
  listTasks(call, {
    list: name,
    state: undefined,
    isMine: !call.options.flag('everyone') && !call.options.has('assignee'),
  });

export const today = listing('today');
export const inbox = listing('inbox');
export const upcoming = listing('upcoming');

interface Wanted {
  readonly list: TaskList | undefined;
  readonly state: TaskState | undefined;
  /** Assigned to the person, or theirs and assigned to no person. */
  readonly isMine: boolean;
}

const ORDER_OF: Partial<Record<TaskList, string>> = { logbook: 'completed', upcoming: 'start' };

/** The tasks that the options leave, of the wanted list. */
async function listTasks(call: Call, wanted: Wanted): Promise<void> {
  const { options, output } = call;
  const { filter, includeArchived } = await filterOf(call, wanted);
  const names = output.isJson ? output.fields(TASK_FIELD_NAMES) : LISTED;
  const query = `query CliTasks($filter: TaskFilter, $first: Int!, $after: String, $orderBy: [TaskOrder!], $search: String, $includeArchived: Boolean!) {
  page: tasks(filter: $filter, first: $first, after: $after, orderBy: $orderBy, search: $search, includeArchived: $includeArchived) {
    nodes { ${taskSelection(names)} } pageInfo { hasNextPage endCursor }
  }
}`;
  const orderBy = ORDERS[options.text('order') ?? ORDER_OF[wanted.list ?? 'inbox'] ?? 'newest'];
  const variables = { filter, orderBy, search: options.text('search') ?? null, includeArchived };
  const limit = limitOf(call, LIMIT_DEFAULT);
  const { rows, hasMore } = await pagesOf<TaskNode>(call, query, variables, limit);
  await output.list(rows, TASK_VIEW);
  if (hasMore) await noteMore(call, limit);
}

/** What the options are in GraphQL. */
async function filterOf(
  { options, io, session }: Call,
  { list: listName, state, isMine }: Wanted,
): Promise<{ readonly filter: object; readonly includeArchived: boolean }> {
  const day = todayIn(io.timezone, io.now());
  const { conditions, includeArchived } = tasksOfList({ list: listName, state }, day);
  const { names: openNames, workspaceOrAll, viewer } = await session();
  const [names, workspace, { id: me }] = [await openNames(), await workspaceOrAll(), await viewer()];
  const idOr = async (name: string, find: (word: string) => Promise<string>): Promise<object[]> => {
    const word = options.text(name);
    if (word === undefined) return [];
    return [{ [`${name}Id`]: word.toLowerCase() === 'none' ? { null: true } : { eq: await find(word) } }];
  };
  const [project, team, assignee, labels] = await Promise.all([
    idOr('project', (word) => names.project(word, workspace)),
    idOr('team', (word) => names.team(word, workspace)),
    idOr('assignee', (word) => names.person(word, workspace)),
    names.labels(options.list('label'), workspace),
  ]);
  const priorities = options.list('priority').map((word) => PRIORITIES.findIndex((one) => one === word));
  const and = [
    ...(workspace === null ? [] : [{ workspaceId: { eq: workspace.id } }]),
    ...project,
    ...team,
    ...assignee,
    ...(labels.length === 0 ? [] : [{ labelIds: { hasAll: labels } }]),
    ...(priorities.length === 0 ? [] : [{ priority: { in: priorities } }]),
    ...between('deadlineAt', { from: options.text('dueFrom'), to: options.text('dueTo') }, day),
    ...between('startDate', { from: options.text('startFrom'), to: options.text('startTo') }, day),
    ...(isMine ? [{ or: [{ assigneeId: { eq: me } }, { assigneeId: { null: true }, creatorId: { eq: me } }] }] : []),
    ...conditions,
  ];
  return { filter: { and }, includeArchived };
}
