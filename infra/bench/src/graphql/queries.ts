import { SEARCHED } from './seed-graph.ts';

/** `walk` is not measured: its pages lead to the cursor of the page that begins deep in the set. */
export type QueryName = keyof typeof OURS;

const FIELDS = 'title number priority start description createdAt updatedAt completedAt assigneeId';

/** The variables are the workspace and a cursor. */
export const OURS = {
  'list of 20': `query ($w: ID!) { tasks(first: 20, filter: { workspaceId: { eq: $w } }) { nodes { id ${FIELDS} } } }`,
  'three levels': `query ($w: ID!) { tasks(first: 20, filter: { workspaceId: { eq: $w } }) { nodes {
    id title project { name } comments(first: 5) { nodes { body author { name } } } } } }`,
  'filtered, ordered, deep': `query ($w: ID!, $after: String) {
    tasks(first: 20, after: $after, filter: { workspaceId: { eq: $w }, priority: { eq: 2 } }, orderBy: [{ createdAt: DESC }]) {
      nodes { id ${FIELDS} } pageInfo { endCursor hasNextPage } } }`,
  search: `query ($w: ID!) { tasks(first: 20, search: "${SEARCHED}", filter: { workspaceId: { eq: $w } }) { nodes { id ${FIELDS} } } }`,
  walk: `query ($w: ID!, $after: String) {
    tasks(first: 100, after: $after, filter: { workspaceId: { eq: $w }, priority: { eq: 2 } }, orderBy: [{ createdAt: DESC }]) {
      pageInfo { endCursor } } }`,
} as const;

const NEWEST = 'orderBy: [CREATED_AT_DESC, ROW_ID_DESC]';

export const THEIRS: Readonly<Record<QueryName, string>> = {
  'list of 20': `query ($w: UUID!) { allTasks(first: 20, condition: { workspaceId: $w }, ${NEWEST}) { nodes { rowId ${FIELDS} } } }`,
  'three levels': `query ($w: UUID!) { allTasks(first: 20, condition: { workspaceId: $w }, ${NEWEST}) { nodes {
    rowId title projectByProjectId { name }
    commentsByTaskId(first: 5, ${NEWEST}) { nodes { body userByAuthorId { name } } } } } }`,
  'filtered, ordered, deep': `query ($w: UUID!, $after: Cursor) {
    allTasks(first: 20, after: $after, condition: { workspaceId: $w, priority: 2 }, ${NEWEST}) {
      nodes { rowId ${FIELDS} } pageInfo { endCursor hasNextPage } } }`,
  search: `query ($w: UUID!) { searchTasks(first: 20, workspace: $w, query: "${SEARCHED}") { nodes { rowId ${FIELDS} } } }`,
  walk: `query ($w: UUID!, $after: Cursor) {
    allTasks(first: 100, after: $after, condition: { workspaceId: $w, priority: 2 }, ${NEWEST}) { pageInfo { endCursor } } }`,
};

/** What PostGraphile needs: the references, which have no foreign keys, an index in its order, and a function that searches, with its index. */
export const PREPARE_PEER = `
  comment on table sync.tasks is E'@foreignKey (project_id) references sync.projects (id)';
  comment on table sync.comments is
    E'@foreignKey (task_id) references sync.tasks (id)\\n@foreignKey (author_id) references sync.users (id)';
  create index on sync.tasks (workspace_id, created_at desc, id desc);
  create index on sync.tasks using gin (workspace_id, title public.gin_trgm_ops);
  create function sync.search_tasks(workspace uuid, query text) returns setof sync.tasks stable language sql as $$
    select * from sync.tasks where workspace_id = workspace and title ilike '%' || query || '%'
    order by created_at desc, id desc
  $$;
  analyze sync.tasks;`;
