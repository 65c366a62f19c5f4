import { between, dayOf, PRIORITIES, TASK_LISTS, TASK_STATES, tasksOfList, todayIn } from '@wts/models/words';
import type { TaskList, Today } from '@wts/models/words';
import type { TypeOf } from '@wts/contracts';
import { document } from '../graph/graph.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { FIELDS, TASK, TASK_FRAGMENT, taskView, type TaskNode } from '../views/task.ts';
import type { PageInfo } from '../views/parts.ts';
import {
  list,
  NEXT,
  nextOf,
  object,
  PAGE,
  PAGE_INFO,
  pageOf,
  text,
  TIMEZONE,
  word,
  WORKSPACE_FILTER,
} from '../views/parts.ts';
import { tool, type ToolContext } from './tool.ts';

const FIND_TASKS = document<
  { tasks: { nodes: readonly TaskNode[]; pageInfo: PageInfo } },
  {
    filter: object;
    first: number;
    after: string | null;
    orderBy: readonly object[];
    search: string | null;
    includeArchived: boolean;
    withDescription: boolean;
  }
>(
  `query AgentFindTasks($filter: TaskFilter, $first: Int!, $after: String, $orderBy: [TaskOrder!], $search: String,
  $includeArchived: Boolean!, $withDescription: Boolean!) {
  tasks(filter: $filter, first: $first, after: $after, orderBy: $orderBy, search: $search, includeArchived: $includeArchived) {
    nodes { ...TaskFields description @include(if: $withDescription) }
    ${PAGE_INFO}
  }
}`,
  TASK_FRAGMENT,
);

const ORDERS = {
  newest: [{ createdAt: 'DESC' }],
  oldest: [{ createdAt: 'ASC' }],
  updated: [{ updatedAt: 'DESC' }],
  deadline: [{ deadlineAt: 'ASC' }],
  start: [{ startDate: 'ASC' }],
  completed: [{ completedAt: 'DESC' }],
} as const;

const INPUT = object(
  {
    workspace: WORKSPACE_FILTER,
    text: { type: 'string', minLength: 1, maxLength: 200, description: 'Words in the title or description.' },
    project: word('Name, key or id of a project, or "none".'),
    team: word('Name, key or id of a team, or "none".'),
    assignee: word('"me", name, e-mail address or id of a member, or "none".'),
    labels: {
      type: 'array',
      minItems: 1,
      maxItems: 10,
      items: word('Name or id.'),
      description: 'Names or ids of labels, all of which the tasks have.',
    },
    state: { type: 'string', enum: TASK_STATES, description: 'Default: open. archived: those in the Trash.' },
    view: {
      type: 'string',
      enum: Object.keys(TASK_LISTS) as TaskList[],
      description: `A list of the app: ${Object.entries(TASK_LISTS)
        .map(([name, content]) => `${name} (${content})`)
        .join(', ')}.`,
    },
    priorities: {
      type: 'array',
      minItems: 1,
      maxItems: PRIORITIES.length,
      items: { type: 'string', enum: PRIORITIES },
      description: 'Any of these priorities.',
    },
    dueFrom: word('Due on this day or later: YYYY-MM-DD or a word such as "today".'),
    dueTo: word('Due on this day or before, such as "end of month".'),
    startFrom: word('Starts on this day or later.'),
    startTo: word('Starts on this day or before.'),
    updatedSince: word('Changed on this day or later (in UTC).'),
    orderBy: { type: 'string', enum: Object.keys(ORDERS) as (keyof typeof ORDERS)[], description: 'Default: newest.' },
    timezone: TIMEZONE,
    fields: FIELDS,
    ...PAGE,
  },
  [],
);

export const findTasks = tool({
  name: 'find_tasks',
  title: 'Find tasks',
  description: [
    'Finds tasks by any combination of filters, a page at a time. Use it for lists ("my open tasks", "what is due this week"); for a few words without filters, search is simpler; for one known task use get_task.',
    'Without a workspace, all workspaces of the person are searched. Days may be words: today, tomorrow, "next monday", "in 3 days", +2w. The answer says which day today is.',
    'Examples: {"assignee": "me", "view": "today", "timezone": "Europe/Berlin"}; {"workspace": "acme", "project": "Website", "dueTo": "end of month", "orderBy": "deadline"}',
  ].join('\n'),
  effect: 'reads',
  input: INPUT,
  output: object({ tasks: list(TASK), today: text, timezone: text, ...NEXT }),
  run: async (args, context) => {
    const today = todayIn(args.timezone, context.now());
    const { fields, text: search = null } = args;
    const { filter, includeArchived } = await filterOf(args, today, context);
    const orderBy = ORDERS[args.orderBy ?? (args.view === 'logbook' ? 'completed' : 'newest')];
    const withDescription = fields?.includes('description') ?? false;
    const variables = { filter, ...pageOf(args), orderBy, search, includeArchived, withDescription };
    const { tasks } = await context.graph.run(FIND_TASKS, variables);
    return {
      tasks: tasks.nodes.map((node) => taskView(shortened(node), fields)),
      today: today.day,
      timezone: today.timezone,
      ...nextOf(tasks.pageInfo),
    };
  },
});

function shortened(node: TaskNode): TaskNode {
  const { description } = node;
  const { descriptionShownMax: max } = AGENT_LIMITS;
  if (!description || description.length <= max) return node;
  return { ...node, description: `${description.slice(0, max).toWellFormed()}… (get_task shows all of it)` };
}

/** What the filters are in GraphQL. */
async function filterOf(
  filters: TypeOf<typeof INPUT>,
  today: Today,
  { names }: ToolContext,
): Promise<{ filter: object; includeArchived: boolean }> {
  const { project, team, assignee, labels = [], view, state, priorities } = filters;
  const { conditions, includeArchived } = tasksOfList({ list: view, state }, today);
  const workspace = await names.workspaceOrAll(filters.workspace);
  const idOr = async (given: string | undefined, find: (given: string) => Promise<string>): Promise<object | null> => {
    if (given === undefined) return null;
    return given.toLowerCase() === 'none' ? { null: true } : { eq: await find(given) };
  };
  const [projectId, teamId, assigneeId, labelIds] = await Promise.all([
    idOr(project, (given) => names.project(given, workspace)),
    idOr(team, (given) => names.team(given, workspace)),
    idOr(assignee, (given) => names.person(given, workspace)),
    names.labels(labels, workspace),
  ]);
  const and = [
    workspace && { workspaceId: { eq: workspace.id } },
    projectId && { projectId },
    teamId && { teamId },
    assigneeId && { assigneeId },
    labelIds.length === 0 ? null : { labelIds: { hasAll: labelIds } },
    priorities === undefined ? null : { priority: { in: priorities.map((one) => PRIORITIES.indexOf(one)) } },
    ...between('deadlineAt', { from: filters.dueFrom, to: filters.dueTo }, today),
    ...between('startDate', { from: filters.startFrom, to: filters.startTo }, today),
    filters.updatedSince === undefined
      ? null
      : { updatedAt: { gte: `${dayOf(filters.updatedSince, today)}T00:00:00.000Z` } },
    ...conditions,
  ].filter((condition) => condition !== null);
  return { filter: { and }, includeArchived };
}
