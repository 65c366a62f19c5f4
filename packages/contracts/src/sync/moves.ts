import { contract, internalOf } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { objectOf, okBody, textOrNull, timestamp, uuid } from '../parts.ts';
import { typed, type TypeOf } from '../type-of.ts';
import { clientText, modelNameText, syncIdText } from './parts.ts';

/*
 * How auth moves a workspace to another cell: it reads the workspace in one cell page by page, puts what it read into the other one, and
 * follows the log until they are equal. Each call may be repeated, because a move goes on after any of the three has crashed.
 *
 * The cell that a workspace arrives in accepts nothing but puts for it until the switch, and the cell that it leaves accepts nothing from
 * then on. Keeps cells.move.one-writer.
 */

const ofAuth = internalOf('auth');

/** Records of a page, and of a put: a hundred of the largest have half of the values that a body may have. */
export const MOVE_RECORDS_MAX = 100;
/** Keys of a page and of a put. */
export const MOVE_KEYS_MAX = 200;
/** Entries of the log that one call looks through. */
export const MOVE_ENTRIES_READ_MAX = 20_000;

/** The `clientId` of entries that were made by a put. They are not followed, so that none is copied once more. */
export const COPY_CLIENT_ID = 'copy';

/**
 * What is copied while people change it, in this order: its changes are followed in the log. `User` is read first and put as it is
 * (`workspaceId: null`): all people whom the workspace knows, also former members.
 */
export const COPIED_MODELS = [
  'Workspace',
  'Team',
  'TeamMember',
  'Project',
  'Label',
  'Task',
  'TaskChecklistItem',
  'Comment',
] as const;

/**
 * What is copied when nothing changes any more, and is no record: what the workspace sees of people who left, its last task number, and
 * which memberships ended.
 */
export const COPIED_LAST = ['FrozenPerson', 'TaskCounter', 'MembershipLoss'] as const;

/**
 * What shows the workspace to its people: copied when there is no way back, because who is removed in the old cell must not see a copy
 * that is left in the new one.
 */
export const COPIED_MEMBERSHIPS = ['ProjectMember', 'WorkspaceMember'] as const;

/** A record as a cell has it; `record` null: it does not. */
const copiedRecord = objectOf({ model: modelNameText, id: uuid, groupId: uuid, record: { type: ['object', 'null'] } });

/** The idempotency key of a committed transaction, and what its mutations changed as `Model id`: empty where the log forgot it. */
const copiedKey = objectOf({
  userId: uuid,
  clientId: clientText,
  clientTxId: clientText,
  createdAt: timestamp,
  mains: { type: 'array', maxItems: LIMITS.mutateTransactionsMax, items: { type: 'string', maxLength: 110 } },
});

export type CopiedRecord = TypeOf<typeof copiedRecord>;
export type CopiedKey = TypeOf<typeof copiedKey>;

const limit = { type: 'integer', minimum: 1, maximum: MOVE_RECORDS_MAX } as const;
const list = { type: 'array' } as const;
const workspaceOrNull = { ...uuid, type: ['string', 'null'] } as const;

/** A page of one model, or of one of the other names above. `next` is the `after` of the next page, null on the last one. */
export const internalReadWorkspacePage = contract({
  ...ofAuth,
  id: 'internalReadWorkspacePage',
  path: '/internal/moves/page',
  summary: 'Records of a workspace, as they are stored',
  body: objectOf({ workspaceId: uuid, model: modelNameText, limit }, { after: { type: 'string', maxLength: 200 } }),
  reply: {
    status: 200,
    schema: okBody({
      records: typed<readonly CopiedRecord[]>(list),
      next: textOrNull,
      /** The head of the log before the page was read. */
      lastSyncId: syncIdText,
    }),
  },
  errors: ['not_found', 'validation_failed'],
});

/**
 * What changed in a workspace after a position, as it was left by the entries up to `lastSyncId`, and their idempotency keys: for a put of
 * both. Only those of `COPIED_MODELS`. With `workspaceId` null: the people themselves, and no entry of a put. Without
 * `after`, only the head.
 */
export const internalReadWorkspaceEntries = contract({
  ...ofAuth,
  id: 'internalReadWorkspaceEntries',
  path: '/internal/moves/entries',
  summary: 'Records that changed after a position',
  body: objectOf({ workspaceId: workspaceOrNull, limit }, { after: syncIdText }),
  reply: {
    status: 200,
    schema: okBody(
      {
        records: typed<readonly CopiedRecord[]>(list),
        keys: typed<readonly CopiedKey[]>(list),
        lastSyncId: syncIdText,
        more: { type: 'boolean' },
      },
      /** SHARD of the service; a version before has none in the answer. */
      { shard: { type: 'integer' } },
    ),
  },
  errors: ['bootstrap_required'],
});

/** The idempotency keys of a workspace up to a position, from the first that the log still has: a change that is sent again is recognized. */
export const internalReadWorkspaceKeys = contract({
  ...ofAuth,
  id: 'internalReadWorkspaceKeys',
  path: '/internal/moves/keys',
  summary: 'Idempotency keys of the changes of a workspace',
  body: objectOf({
    workspaceId: uuid,
    after: syncIdText,
    through: syncIdText,
    limit: { ...limit, maximum: MOVE_KEYS_MAX },
  }),
  reply: {
    status: 200,
    schema: okBody({
      keys: typed<readonly CopiedKey[]>(list),
      /** Ids that were those of groups of the workspace: they are never used again. */
      usedGroups: { type: 'array', items: uuid },
      lastSyncId: syncIdText,
      more: { type: 'boolean' },
    }),
  },
});

/** How many records there are, and a digest of them that is the same in every cell with the same ones. Without people. */
export interface CopyDigest {
  readonly model: string;
  readonly count: number;
  readonly digest: string;
}

export const internalDigestWorkspace = contract({
  ...ofAuth,
  id: 'internalDigestWorkspace',
  path: '/internal/moves/digest',
  summary: 'Counts and digests of what is copied of a workspace under some names, which reads all of it',
  body: objectOf({ workspaceId: uuid, models: { type: 'array', maxItems: MOVE_RECORDS_MAX, items: modelNameText } }),
  reply: { status: 200, schema: okBody({ models: typed<readonly CopyDigest[]>(list) }) },
  errors: ['not_found'],
});

/**
 * Makes the cell have exactly these records: nothing is written for one that is equal. `workspaceId` null: people, at any time; else the
 * workspace must be `arriving`. No permission and no rule is asked but the schema's; a record of another workspace is never touched.
 * Keys and groups are put after the records. With `isCheck` nothing is put: it is refused when a record of another workspace is in the way,
 * or a member is not in the cell.
 */
export const internalPutRecords = contract({
  ...ofAuth,
  id: 'internalPutRecords',
  path: '/internal/moves/put',
  summary: 'Make the records of a workspace equal to those of another cell',
  bodyBytesMax: LIMITS.mutateBodyBytes,
  body: objectOf(
    {
      workspaceId: workspaceOrNull,
      records: { type: 'array', maxItems: MOVE_RECORDS_MAX, items: copiedRecord },
    },
    {
      keys: { type: 'array', maxItems: MOVE_KEYS_MAX, items: copiedKey },
      usedGroups: { type: 'array', maxItems: MOVE_ENTRIES_READ_MAX, items: uuid },
      isCheck: { const: true },
    },
  ),
  reply: {
    status: 200,
    schema: okBody({
      /** The head of the log afterwards. */
      lastSyncId: syncIdText,
    }),
  },
  errors: ['conflict', 'slug_taken', 'validation_failed', 'not_found'],
});

/**
 * Where a workspace moves from and to. In the cell that it leaves: `moving` (nothing can be changed, everything can be read), then `none`
 * (given up) or `moved` (its people lose it; the copy is deleted after a day). In the cell that it enters: `arriving` before the first put,
 * then `none` (people can change it) or `removed` (given up; the copy is deleted).
 */
export const MOVE_STATES = ['moving', 'moved', 'arriving', 'removed', 'none'] as const;
export type MoveState = (typeof MOVE_STATES)[number];

/**
 * The answer holds for every replica: after `moving`, no change has a position after `lastSyncId`. `unavailable` while that has to wait: for
 * a large deletion to end (`moving`), or for the copy of an earlier move to be deleted (`arriving`).
 */
export const internalSetMoving = contract({
  ...ofAuth,
  id: 'internalSetMoving',
  path: '/internal/moves/state',
  summary: 'Stop or resume changes of a workspace that moves',
  body: objectOf(
    {
      workspaceId: uuid,
      state: { type: 'string', enum: MOVE_STATES },
    },
    {
      baseUrl: { type: 'string', maxLength: 2048, description: 'Where the workspace is now; with `moved`.' },
    },
  ),
  reply: { status: 200, schema: okBody({ lastSyncId: syncIdText }) },
  errors: ['conflict', 'not_found'],
});
