import { LIMITS } from '@wts/contracts';
import { MODELS, singularOf, type Model } from '@wts/models';
import { GRAPH_LIMITS } from '../../limits.ts';
import { block, entriesOf, field, type Entries } from '../sdl.ts';
import { connectionArguments, INCLUDE_ARCHIVED } from './connections.ts';

export const MIN_SYNC_ID: Entries = {
  'minSyncId: String':
    'Read at or after this position of the log, such as the `syncId` of a change. The header `X-Min-Sync-Id` is the same for all fields.',
};

/** The compiler of Relay refuses `node` and `nodes` with further arguments. Keeps graphql.client.relay. */
const BY_HEADER = 'To read at or after a position of the log, send it in the header `X-Min-Sync-Id`.';

/** Models with words by which people find them. */
export const SEARCHED: readonly Model[] = MODELS.filter(({ search }) => search.length > 0);

/** A field that finds a record by a key of it in its workspace. */
const keyed = (head: string, key: string, doc: string): string =>
  field(head, { 'workspaceId: ID!': 'The workspace.', [key]: doc, ...MIN_SYNC_ID });

/** Keeps graphql.client.existing. */
export const QUERIES: Entries = {
  ...entriesOf(MODELS, (model) => [
    field(`${singularOf(model)}: ${model.name}`, { 'id: ID!': 'Its id.', ...MIN_SYNC_ID }),
    `Finds one ${model.name} by its id. ${model.doc} Null when there is none, or when you may not see it; an archived one is found.`,
  ]),
  ...entriesOf(MODELS, (model) => [
    field(`${model.plural}: ${model.name}Connection!`, { ...connectionArguments(model), ...MIN_SYNC_ID }),
    `The ${model.plural} of all your workspaces, a page at a time. Example: \`${model.plural}(first: 20, orderBy: {createdAt: DESC}) { nodes { id } pageInfo { hasNextPage endCursor } }\`.`,
  ]),
  [field('viewer: User!', MIN_SYNC_ID)]:
    'The person who calls. Example: `{ viewer { id name assignedTasks(first: 5) { nodes { title } } } }`.',
  [field('myWorkspaces: [Workspace!]!', MIN_SYNC_ID)]:
    'Your workspaces, by name, without deleted ones. With a credential for one workspace, only that one.',
  [field('workspaceByUrlKey: Workspace', { 'urlKey: String!': 'Its short name.', ...MIN_SYNC_ID })]:
    'Finds one of your workspaces by its short name for URLs, also a deleted one that can be restored.',
  [keyed('taskByNumber: Task', 'number: Int!', 'Its number.')]: 'Finds a task by its number in its workspace.',
  [keyed('teamByKey: Team', 'key: String!', 'Its short code.')]: 'Finds a team by its short code.',
  [keyed('projectByKey: Project', 'key: String!', 'Its short code.')]:
    'Finds a project by its short code. Private projects may share a code; then the one that is not private is found.',
  [field('node: Node', { 'id: ID!': 'Its id.' })]: `Finds any record by its id. ${BY_HEADER}`,
  [field('nodes: [Node]!', {
    'ids: [ID!]!': `Their ids, at most ${LIMITS.graphPageMax}.`,
  })]: `Finds records of any kind by their ids, in the given order; null for each one that does not exist or that you may not see. ${BY_HEADER}`,
  [field('search: SearchResult!', {
    'query: String!': `Words, at most ${LIMITS.graphSearchTextMax} characters: whole words, beginnings of words, or with a slip in a long one.`,
    'first: Int': `How many to find, 1 to ${LIMITS.graphPageMax}; ${LIMITS.graphPageDefault} by default.`,
    'types: [SearchType!]': 'Only records of these kinds.',
    'workspaceId: ID': 'Only in this workspace.',
    ...INCLUDE_ARCHIVED,
    ...MIN_SYNC_ID,
  })]:
    'Finds records by words, the best match first. Example: `search(query: "data base index") { hits { score record { id ... on Task { title } } } }`.',
  [field('history: HistoryConnection!', {
    'modelId: ID!': 'The id of the record, which may be deleted.',
    'first: Int': `How many entries, 1 to ${LIMITS.graphPageMax}; ${LIMITS.graphPageDefault} by default.`,
    'after: String': 'Only entries older than this cursor.',
    ...MIN_SYNC_ID,
  })]:
    'What happened to a record, the newest first, as far as the log has it and you may see it: of a private project and of a workspace from the time when you joined it.',
  [field('repeatPreview: RepeatPreview!', {
    'rule: String!': '`repeatRule` of the task.',
    'from: TaskRepeatFrom! = date': '`repeatFrom` of the task.',
    'anchor: Date': 'The day of the task: its `startDate`, or its `deadlineAt`. Default: today.',
    'first: Int! = 10': `How many days, 1 to ${GRAPH_LIMITS.previewDaysMax}; of a rule with more than ${GRAPH_LIMITS.previewCharsMax / GRAPH_LIMITS.previewDaysMax} characters fewer.`,
    'workspaceId: ID': 'The workspace of the task, whose time zone counts.',
    'timeZone: String': 'An IANA time zone instead of a workspace. Default: `UTC`.',
    ...MIN_SYNC_ID,
  })]:
    'The days of a repeat rule before a task has it: what a task with this rule would do. It changes nothing, and refuses what a change refuses. Example: `{ repeatPreview(rule: "FREQ=MONTHLY", anchor: "2027-01-31") { text days } }`.',
};

export const QUERY_TYPE_DEFS: string = [
  block('What a repeat rule means.', 'type RepeatPreview', {
    'text: String!': 'The rule in words.',
    'days: [Date!]!':
      'The days of the tasks, beginning with `anchor`, as if each task were completed on its day; fewer than `first` where the series ends.',
  }),
  block(
    'The kinds of records that a search finds.',
    'enum SearchType',
    entriesOf(SEARCHED, ({ name, plural }) => [name, `Searches ${plural}.`]),
  ),
  block('What a search found.', 'type SearchResult', {
    'hits: [SearchHit!]!': 'The records with their scores, the best first.',
    'nodes: [Node!]!': 'The records alone.',
  }),
  block('A record that was found.', 'type SearchHit', {
    'score: Float!': 'How well its title matches, from 0 to 1.',
    'record: Node!': 'The record.',
  }),
  block('An entry of the log: one change of one record.', 'type HistoryEntry', {
    'syncId: String!': 'Its position in the log.',
    'modelName: String!': 'The kind of the record.',
    'modelId: ID!': 'The id of the record.',
    'action: String!': 'What happened: `INSERT`, `UPDATE`, `DELETE`, `ARCHIVE` or `UNARCHIVE`.',
    'data: JSON!': 'The whole record of an `INSERT`, the changed fields of an `UPDATE`.',
    'groupId: ID!': 'The group that could see it: a workspace, a private project or a person.',
    'actor: User': 'Who made the change; null when it was a service, or when you may not see the person.',
    'clientId: String!': 'The name of the client that sent it.',
    'clientTxId: String!': 'The name that this client gave the change.',
    'createdAt: DateTime!': 'When it was committed.',
  }),
  block('A page of the history of a record.', 'type HistoryConnection', {
    'edges: [HistoryEdge!]!': 'The entries with their cursors.',
    'nodes: [HistoryEntry!]!': 'The entries alone.',
    'pageInfo: PageInfo!': 'Whether there are older entries.',
  }),
  block('An entry and its place in the history.', 'type HistoryEdge', {
    'cursor: String!': 'For `after` of the next page.',
    'node: HistoryEntry!': 'The entry.',
  }),
].join('\n\n');
