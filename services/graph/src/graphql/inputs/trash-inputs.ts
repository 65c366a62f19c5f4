import { LIMITS } from '@wts/contracts';
import { block, ERROR, field, type Entries } from '../sdl.ts';
import { MIN_SYNC_ID } from '../types/query.ts';
import { SENT_AGAIN } from './model-inputs.ts';

/** The Trash: its types, its query and its mutations. */
export const TRASH_TYPE_DEFS: string = [
  block('A task in the Trash.', 'type TrashedTask', {
    'task: Task!': 'The task. It can be restored with `taskUnarchive`.',
    'archivedAt: DateTime!': 'Since when it is in the Trash.',
    'archivedBy: User':
      'Who moved it there; null when the log has no entry of that any more, or when you may not see the person.',
    'purgesAt: DateTime': 'When it is deleted for good, unless it is restored before; null for never.',
  }),
  block('A page of the Trash.', 'type TrashConnection', {
    'edges: [TrashEdge!]!': 'The tasks with their cursors.',
    'nodes: [TrashedTask!]!': 'The tasks alone.',
    'pageInfo: PageInfo!': 'Whether there are older ones.',
    'totalCount: Int!': 'How many tasks are in the Trash; counted only when it is selected.',
    'deletableCount: Int!':
      'How many of them you may delete for good, for `count` of `trashEmpty`; counted only when it is selected.',
  }),
  block('A task in the Trash and its place there.', 'type TrashEdge', {
    'cursor: String!': 'For `after` of the next page.',
    'node: TrashedTask!': 'The task.',
  }),
  block('The result of emptying the Trash.', 'type TrashEmptyPayload', {
    'success: Boolean!': 'Whether it was begun. False when `count` is another number.',
    'deleted: Int!': 'How many tasks were deleted for good.',
    'remaining: Int!': 'How many are left that you may delete. Empty the Trash again with this `count`.',
    'lastSyncId: String!': 'The highest position that the request has reached; `0` when nothing was deleted.',
    ...ERROR,
  }),
].join('\n\n');

const WORKSPACE: Entries = { 'workspaceId: ID!': 'The workspace.' };

export const TRASH_QUERIES: Entries = {
  [field('trash: TrashConnection!', {
    ...WORKSPACE,
    'first: Int': `How many to read, 1 to ${LIMITS.graphPageMax}; ${LIMITS.graphPageDefault} by default.`,
    'after: String': 'Only those after this cursor, which an earlier page had.',
    ...MIN_SYNC_ID,
  })]:
    'The tasks in the Trash of a workspace that you see, the newest first. Example: `trash(workspaceId: "<id>", first: 20) { nodes { archivedAt purgesAt task { id title } } }`.',
};

const ID: Entries = { 'id: ID!': 'The id of the workspace.' };

export const TRASH_MUTATIONS: Entries = {
  [field('workspaceDelete: WorkspacePayload!', {
    ...ID,
    'urlKey: String!': 'Its `urlKey`, as a confirmation.',
    ...SENT_AGAIN,
  })]: `Deletes a workspace; for its owners, with the scope \`admin\`. For ${LIMITS.workspaceTrashDays} days it can be read only, and be restored by \`workspaceRestore\`; then it is deleted for good with everything in it.`,
  [field('workspaceRestore: WorkspacePayload!', {
    ...ID,
    ...SENT_AGAIN,
  })]: `Restores a workspace that was deleted less than ${LIMITS.workspaceTrashDays} days ago; for its owners, with the scope \`admin\`.`,
  [field('trashEmpty: TrashEmptyPayload!', {
    ...WORKSPACE,
    'count: Int!': 'How many tasks you expect to delete: `deletableCount` of `trash`, as a confirmation.',
  })]: `Deletes tasks in the Trash for good, the oldest first, at most ${LIMITS.trashEmptyMax} at a time. It cannot be undone. A task that is restored meanwhile stays.`,
};
