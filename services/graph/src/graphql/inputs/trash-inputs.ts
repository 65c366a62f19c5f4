import { LIMITS } from '@wts/contracts';
import { SENT_AGAIN } from './model-inputs.ts';
import { block, entry, ERROR, field } from './sdl.ts';

/** The Trash: its types, its query and its mutations. */
export const TRASH_TYPE_DEFS: string = [
  block('A task in the Trash.', 'type TrashedTask', [
    entry('The task. It can be restored with `taskUnarchive`.', 'task: Task!'),
    entry('Since when it is in the Trash.', 'archivedAt: DateTime!'),
    entry(
      'Who moved it there; null when the log has no entry of that any more, or when you may not see the person.',
      'archivedBy: User',
    ),
    entry('When it is deleted for good, unless it is restored before; null for never.', 'purgesAt: DateTime'),
  ]),
  block('A page of the Trash.', 'type TrashConnection', [
    entry('The tasks with their cursors.', 'edges: [TrashEdge!]!'),
    entry('The tasks alone.', 'nodes: [TrashedTask!]!'),
    entry('Whether there are older ones.', 'pageInfo: PageInfo!'),
    entry('How many tasks are in the Trash; counted only when it is selected.', 'totalCount: Int!'),
    entry(
      'How many of them you may delete for good, for `count` of `trashEmpty`; counted only when it is selected.',
      'deletableCount: Int!',
    ),
  ]),
  block('A task in the Trash and its place there.', 'type TrashEdge', [
    entry('For `after` of the next page.', 'cursor: String!'),
    entry('The task.', 'node: TrashedTask!'),
  ]),
  block('The result of emptying the Trash.', 'type TrashEmptyPayload', [
    entry('Whether it was begun. False when `count` is another number.', 'success: Boolean!'),
    entry('How many tasks were deleted for good.', 'deleted: Int!'),
    entry('How many are left that you may delete. Empty the Trash again with this `count`.', 'remaining: Int!'),
    entry('The highest position that the request has reached; `0` when nothing was deleted.', 'lastSyncId: String!'),
    ERROR,
  ]),
].join('\n\n');

const WORKSPACE = entry('The workspace.', 'workspaceId: ID!');

export const TRASH_QUERIES: readonly string[] = [
  field(
    'trash: TrashConnection!',
    'The tasks in the Trash of a workspace that you see, the newest first. Example: `trash(workspaceId: "<id>", first: 20) { nodes { archivedAt purgesAt task { id title } } }`.',
    [
      WORKSPACE,
      entry(`How many to read, 1 to ${LIMITS.graphPageMax}; ${LIMITS.graphPageDefault} by default.`, 'first: Int'),
      entry('Only those after this cursor, which an earlier page had.', 'after: String'),
      entry(
        'Read at or after this position of the log, such as the `syncId` of a change. The header `X-Min-Sync-Id` is the same for all fields.',
        'minSyncId: String',
      ),
    ],
  ),
];

export const TRASH_MUTATIONS: readonly string[] = [
  field(
    'workspaceDelete: WorkspacePayload!',
    `Deletes a workspace; for its owners, with the scope \`admin\`. For ${LIMITS.workspaceTrashDays} days it can be read only, and be restored by \`workspaceRestore\`; then it is deleted for good with everything in it.`,
    [
      entry('The id of the workspace.', 'id: ID!'),
      entry('Its `urlKey`, as a confirmation.', 'urlKey: String!'),
      ...SENT_AGAIN,
    ],
  ),
  field(
    'workspaceRestore: WorkspacePayload!',
    `Restores a workspace that was deleted less than ${LIMITS.workspaceTrashDays} days ago; for its owners, with the scope \`admin\`.`,
    [entry('The id of the workspace.', 'id: ID!'), ...SENT_AGAIN],
  ),
  field(
    'trashEmpty: TrashEmptyPayload!',
    `Deletes tasks in the Trash for good, the oldest first, at most ${LIMITS.trashEmptyMax} at a time. It cannot be undone. A task that is restored meanwhile stays.`,
    [
      WORKSPACE,
      entry('How many tasks you expect to delete: `deletableCount` of `trash`, as a confirmation.', 'count: Int!'),
    ],
  ),
];
