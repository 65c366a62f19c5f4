/** The fields of records by their names, and how GraphQL selects them. A test compares them with the models. */
export type Fields = Readonly<Record<string, string>>;

const plain = (...names: readonly string[]): Fields => Object.fromEntries(names.map((name) => [name, name]));
const TIMES = plain('createdAt', 'updatedAt');
const ARCHIVABLE = plain('createdAt', 'updatedAt', 'archivedAt');

const TASK_FIELDS: Fields = {
  ...plain('id', 'number', 'title', 'description', 'workspaceId'),
  workspace: 'workspace { id urlKey name }',
  ...plain('projectId'),
  project: 'project { id key name }',
  ...plain('teamId'),
  team: 'team { id key name }',
  ...plain('assigneeId'),
  assignee: 'assignee { id name }',
  ...plain('creatorId'),
  creator: 'creator { id name }',
  ...plain('start', 'startBucket', 'startDate', 'todayIndexReferenceDate', 'deadlineAt', 'priority', 'labelIds'),
  labels: 'labels(first: 50, includeArchived: true) { nodes { id name color } }',
  ...plain('sortOrder', 'repeatRule', 'repeatText', 'repeatFrom', 'repeatAnchor', 'repeatIndex', 'repeatTemplateId'),
  ...plain('repeatNextDate', 'repeatWaiting', 'repeatError', 'completedAt'),
  ...ARCHIVABLE,
};

export const TASK_FIELD_NAMES: readonly string[] = Object.keys(TASK_FIELDS);

/** What a key and its id need. */
const NAMED = ['id', 'number', 'title', 'workspace'];

/** The selection of these fields, and of those by which a task is named. */
export function taskSelection(names: readonly string[]): string {
  const wanted = new Set([...NAMED, ...names]);
  return selectionOf(Object.fromEntries(Object.entries(TASK_FIELDS).filter(([name]) => wanted.has(name))));
}

export const PROJECT_FIELDS: Fields = {
  ...plain('id', 'workspaceId', 'teamId', 'key', 'name', 'description', 'status', 'isPrivate', 'leadId', 'creatorId'),
  ...plain('startDate', 'targetDate', 'completedAt', 'sortOrder'),
  ...ARCHIVABLE,
  team: 'team { id key name }',
  lead: 'lead { id name }',
  creator: 'creator { id name }',
};

export const LABEL_FIELDS: Fields = {
  ...plain('id', 'workspaceId', 'teamId', 'name', 'color'),
  ...ARCHIVABLE,
  team: 'team { id key name }',
};

export const TEAM_FIELDS: Fields = { ...plain('id', 'workspaceId', 'key', 'name', 'description'), ...ARCHIVABLE };

export const COMMENT_FIELDS: Fields = {
  ...plain('id', 'workspaceId', 'taskId', 'authorId', 'parentId', 'body', 'editedAt'),
  ...TIMES,
  author: 'author { id name }',
};

export const CHECKLIST_FIELDS: Fields = {
  ...plain('id', 'workspaceId', 'taskId', 'title', 'completedAt', 'sortOrder'),
  ...TIMES,
};

export function selectionOf(fields: Fields): string {
  return Object.values(fields).join(' ');
}
