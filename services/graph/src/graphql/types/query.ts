import { LIMITS } from '@wts/contracts';
import { MODELS, singularOf, type Model } from '@wts/models';
import { GRAPH_LIMITS } from '../../limits.ts';
import { connectionArguments } from './connections.ts';
import { described } from './names.ts';

const MIN_SYNC_ID = `
    ${described('Read at or after this position of the log, such as the `syncId` of a change. The header `X-Min-Sync-Id` is the same for all fields.')}
    minSyncId: String`;

/** The compiler of Relay refuses `node` and `nodes` with further arguments. Keeps graphql.client.relay. */
const BY_HEADER = 'To read at or after a position of the log, send it in the header `X-Min-Sync-Id`.';

/** Models with words by which people find them. */
export const SEARCHED: readonly Model[] = MODELS.filter(({ search }) => search.length > 0);

const ROOTS = MODELS.flatMap((model) => {
  const { name, plural, doc } = model;
  return [
    `  ${described(`Finds one ${name} by its id. ${doc} Null when there is none, or when you may not see it; an archived one is found.`)}
  ${singularOf(model)}(
    ${described('Its id.')}
    id: ID!${MIN_SYNC_ID}
  ): ${name}`,
    `  ${described(`The ${plural} of all your workspaces, a page at a time. Example: \`${plural}(first: 20, orderBy: {createdAt: DESC}) { nodes { id } pageInfo { hasNextPage endCursor } }\`.`)}
  ${plural}${connectionArguments(model, MIN_SYNC_ID)}: ${name}Connection!`,
  ];
});

const WORKSPACE_ID = `
    ${described('The workspace.')}
    workspaceId: ID!`;

const keyed = (what: string, key: string, type: string): string => `(${WORKSPACE_ID}
    ${described(what)}
    ${key}: ${type}!${MIN_SYNC_ID}
  )`;

/** Keeps graphql.client.existing. */
export const QUERY_TYPE_DEFS = `
${described('Everything that can be read. You see the records of your workspaces, and those of private projects that you are a member of; nothing else exists for you.')}
type Query {
${ROOTS.join('\n')}
  ${described('The person who calls. Example: `{ viewer { id name assignedTasks(first: 5) { nodes { title } } } }`.')}
  viewer(${MIN_SYNC_ID}
  ): User!
  ${described('Your workspaces, by name, without deleted ones. With a credential for one workspace, only that one.')}
  myWorkspaces(${MIN_SYNC_ID}
  ): [Workspace!]!
  ${described('Finds one of your workspaces by its short name for URLs, also a deleted one that can be restored.')}
  workspaceByUrlKey(
    ${described('Its short name.')}
    urlKey: String!${MIN_SYNC_ID}
  ): Workspace
  ${described('Finds a task by its number in its workspace.')}
  taskByNumber${keyed('Its number.', 'number', 'Int')}: Task
  ${described('Finds a team by its short code.')}
  teamByKey${keyed('Its short code.', 'key', 'String')}: Team
  ${described('Finds a project by its short code. Private projects may share a code; then the one that is not private is found.')}
  projectByKey${keyed('Its short code.', 'key', 'String')}: Project
  ${described(`Finds any record by its id. ${BY_HEADER}`)}
  node(
    ${described('Its id.')}
    id: ID!
  ): Node
  ${described(`Finds records of any kind by their ids, in the given order; null for each one that does not exist or that you may not see. ${BY_HEADER}`)}
  nodes(
    ${described(`Their ids, at most ${LIMITS.graphPageMax}.`)}
    ids: [ID!]!
  ): [Node]!
  ${described('Finds records by words, the best match first. Example: `search(query: "data base index") { hits { score record { id ... on Task { title } } } }`.')}
  search(
    ${described(`Words, at most ${LIMITS.graphSearchTextMax} characters: whole words, beginnings of words, or with a slip in a long one.`)}
    query: String!
    ${described(`How many to find, 1 to ${LIMITS.graphPageMax}; ${LIMITS.graphPageDefault} by default.`)}
    first: Int
    ${described('Only records of these kinds.')}
    types: [SearchType!]
    ${described('Only in this workspace.')}
    workspaceId: ID
    ${described('Also archived records, and those of archived projects and of deleted workspaces.')}
    includeArchived: Boolean = false${MIN_SYNC_ID}
  ): SearchResult!
  ${described('What happened to a record, the newest first, as far as the log has it and you may see it: of a private project and of a workspace from the time when you joined it.')}
  history(
    ${described('The id of the record, which may be deleted.')}
    modelId: ID!
    ${described(`How many entries, 1 to ${LIMITS.graphPageMax}; ${LIMITS.graphPageDefault} by default.`)}
    first: Int
    ${described('Only entries older than this cursor.')}
    after: String${MIN_SYNC_ID}
  ): HistoryConnection!
  ${described('The days of a repeat rule before a task has it: what a task with this rule would do. It changes nothing, and refuses what a change refuses. Example: `{ repeatPreview(rule: "FREQ=MONTHLY", anchor: "2027-01-31") { text days } }`.')}
  repeatPreview(
    ${described('`repeatRule` of the task.')}
    rule: String!
    ${described('`repeatFrom` of the task.')}
    from: TaskRepeatFrom! = date
    ${described('The day of the task: its `startDate`, or its `deadlineAt`. Default: today.')}
    anchor: Date
    ${described(`How many days, 1 to ${GRAPH_LIMITS.previewDaysMax}; of a rule with more than ${GRAPH_LIMITS.previewCharsMax / GRAPH_LIMITS.previewDaysMax} characters fewer.`)}
    first: Int! = 10
    ${described('The workspace of the task, whose time zone counts.')}
    workspaceId: ID
    ${described('An IANA time zone instead of a workspace. Default: `UTC`.')}
    timeZone: String${MIN_SYNC_ID}
  ): RepeatPreview!
}

${described('What a repeat rule means.')}
type RepeatPreview {
  ${described('The rule in words.')}
  text: String!
  ${described('The days of the tasks, beginning with `anchor`, as if each task were completed on its day; fewer than `first` where the series ends.')}
  days: [Date!]!
}

${described('The kinds of records that a search finds.')}
enum SearchType {
${SEARCHED.map(({ name, plural }) => `  ${described(`Searches ${plural}.`)}\n  ${name}`).join('\n')}
}

${described('What a search found.')}
type SearchResult {
  ${described('The records with their scores, the best first.')}
  hits: [SearchHit!]!
  ${described('The records alone.')}
  nodes: [Node!]!
}

${described('A record that was found.')}
type SearchHit {
  ${described('How well its title matches, from 0 to 1.')}
  score: Float!
  ${described('The record.')}
  record: Node!
}

${described('An entry of the log: one change of one record.')}
type HistoryEntry {
  ${described('Its position in the log.')}
  syncId: String!
  ${described('The kind of the record.')}
  modelName: String!
  ${described('The id of the record.')}
  modelId: ID!
  ${described('What happened: `INSERT`, `UPDATE`, `DELETE`, `ARCHIVE` or `UNARCHIVE`.')}
  action: String!
  ${described('The whole record of an `INSERT`, the changed fields of an `UPDATE`.')}
  data: JSON!
  ${described('The group that could see it: a workspace, a private project or a person.')}
  groupId: ID!
  ${described('Who made the change; null when it was a service, or when you may not see the person.')}
  actor: User
  ${described('The name of the client that sent it.')}
  clientId: String!
  ${described('The name that this client gave the change.')}
  clientTxId: String!
  ${described('When it was committed.')}
  createdAt: DateTime!
}

${described('A page of the history of a record.')}
type HistoryConnection {
  ${described('The entries with their cursors.')}
  edges: [HistoryEdge!]!
  ${described('The entries alone.')}
  nodes: [HistoryEntry!]!
  ${described('Whether there are older entries.')}
  pageInfo: PageInfo!
}

${described('An entry and its place in the history.')}
type HistoryEdge {
  ${described('For `after` of the next page.')}
  cursor: String!
  ${described('The entry.')}
  node: HistoryEntry!
}
`;
