/** The fields of records by their names, and how GraphQL selects them. A test compares them with the models. */
export type Fields = Readonly<Record<string, string>>;

const plain = (...names: readonly string[]): Fields => Object.fromEntries(names.map((name) => [name, name]));
const TIMES = plain('createdAt', 'updatedAt');
const ARCHIVABLE = plain('createdAt', 'updatedAt', 'archivedAt');

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
