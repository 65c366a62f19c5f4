/** The fields of a task, and how GraphQL selects them. A test compares them with the model. */
const FIELDS = {
  id: 'id',
  number: 'number',
  title: 'title',
  description: 'description',
  workspaceId: 'workspaceId',
  workspace: 'workspace { id urlKey name }',
  projectId: 'projectId',
  project: 'project { id key name }',
  teamId: 'teamId',
  team: 'team { id key name }',
  assigneeId: 'assigneeId',
  assignee: 'assignee { id name }',
  creatorId: 'creatorId',
  creator: 'creator { id name }',
  start: 'start',
  startBucket: 'startBucket',
  startDate: 'startDate',
  todayIndexReferenceDate: 'todayIndexReferenceDate',
  deadlineAt: 'deadlineAt',
  priority: 'priority',
  labelIds: 'labelIds',
  labels: 'labels(first: 50, includeArchived: true) { nodes { id name color } }',
  sortOrder: 'sortOrder',
  repeatRule: 'repeatRule',
  repeatText: 'repeatText',
  repeatFrom: 'repeatFrom',
  repeatAnchor: 'repeatAnchor',
  repeatIndex: 'repeatIndex',
  repeatTemplateId: 'repeatTemplateId',
  repeatNextDate: 'repeatNextDate',
  repeatWaiting: 'repeatWaiting',
  repeatError: 'repeatError',
  completedAt: 'completedAt',
  createdAt: 'createdAt',
  updatedAt: 'updatedAt',
  archivedAt: 'archivedAt',
} as const;

export const TASK_FIELD_NAMES: readonly string[] = Object.keys(FIELDS);

/** What a key and its id need. */
const NAMED = ['id', 'number', 'title', 'workspace'];

/** The selection of these fields, and of those by which a task is named. */
export function taskSelection(names: readonly string[]): string {
  const wanted = new Set([...NAMED, ...names]);
  return Object.entries(FIELDS)
    .flatMap(([name, selection]) => (wanted.has(name) ? [selection] : []))
    .join(' ');
}
