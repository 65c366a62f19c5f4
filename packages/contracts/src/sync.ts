import type { ActionName, ModelRecord, SyncAction } from './actions.ts';
import { ACTIONS, syncActionSchema } from './actions.ts';
import { contract } from './contract.ts';
import type { ErrorCode } from './errors.ts';
import { SYNC_ID_PATTERN, UUID_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';

/** One change a client asks for: section 2 of the specification. */
export interface SyncTransaction {
  readonly clientTxId: string;
  readonly clientId: string;
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  readonly payload: { readonly [field: string]: unknown };
}

export interface MutationResult {
  readonly clientTxId: string;
  readonly success: boolean;
  readonly syncId?: string;
  /** Stable text; free of SQL and of the words network, fetch, timeout and aborted, which clients retry on. */
  readonly error?: string;
  readonly code?: ErrorCode;
}

export interface AcceptedMutation {
  readonly clientTxId: string;
  readonly syncId: string;
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  /** The full record after the change, server-assigned fields included; before it, for DELETE. */
  readonly record: ModelRecord;
}

export interface MutateReply {
  readonly ok: true;
  readonly success: boolean;
  readonly lastSyncId: string;
  readonly results: readonly MutationResult[];
  readonly mutations: readonly AcceptedMutation[];
}

const clientText = { type: 'string', minLength: 1, maxLength: 128 } as const;
const syncIdText = { type: 'string', pattern: SYNC_ID_PATTERN } as const;
const action = { type: 'string', enum: ACTIONS } as const;

// Keeps sync.transaction.fields.
export const syncTransactionSchema = {
  type: 'object',
  required: ['clientTxId', 'clientId', 'modelName', 'modelId', 'action', 'payload'],
  properties: {
    clientTxId: {
      ...clientText,
      description: 'Stable for ever: the same transaction sent again is not applied again.',
    },
    clientId: { ...clientText, description: 'One per device or process.' },
    modelName: { type: 'string', minLength: 1, maxLength: 64 },
    modelId: { type: 'string', pattern: UUID_PATTERN },
    action,
    payload: { type: 'object' },
  },
} as const;

// Keeps sync.mutate.scope.
export const mutate = contract<{ body: { batchId: string; transactions: SyncTransaction[] }; reply: MutateReply }>({
  id: 'syncMutate',
  method: 'POST',
  path: '/sync/mutate',
  summary: 'Apply a batch of changes',
  description:
    'Transactions are applied in order; each has its own result. A refused transaction does not stop the others.',
  tag: 'Sync',
  scope: 'write',
  bodyBytesMax: LIMITS.mutateBodyBytes,
  body: {
    type: 'object',
    required: ['batchId', 'transactions'],
    properties: {
      batchId: clientText,
      transactions: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.mutateTransactionsMax,
        items: syncTransactionSchema,
      },
    },
  },
  reply: {
    status: 200,
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['ok', 'success', 'lastSyncId', 'results', 'mutations'],
      properties: {
        ok: { const: true },
        success: { type: 'boolean', description: 'True when every transaction was accepted.' },
        lastSyncId: {
          ...syncIdText,
          description: 'Highest place in the log this batch reached; a cursor at or past it has seen it.',
        },
        results: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['clientTxId', 'success'],
            properties: {
              clientTxId: { type: 'string' },
              success: { type: 'boolean' },
              syncId: syncIdText,
              error: { type: 'string' },
              code: { type: 'string' },
            },
          },
        },
        mutations: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['clientTxId', 'syncId', 'modelName', 'modelId', 'action', 'record'],
            properties: {
              clientTxId: { type: 'string' },
              syncId: syncIdText,
              modelName: { type: 'string' },
              modelId: { type: 'string' },
              action,
              record: { type: 'object' },
            },
          },
        },
      },
    },
    example: {
      ok: true,
      success: true,
      lastSyncId: '43',
      results: [{ clientTxId: 'tx-1', success: true, syncId: '43' }],
      mutations: [
        { clientTxId: 'tx-1', syncId: '43', modelName: 'Label', modelId: '7a10…', action: 'DELETE', record: {} },
      ],
    },
  },
  errors: ['malformed_json', 'payload_too_large', 'unsupported_media_type'],
});

/** What may be asked of a bootstrap, in the query or, with POST, in the body. Anything else a client adds is ignored. */
export interface BootstrapQuestion {
  readonly onlyModels?: string;
  readonly syncGroups?: string;
  readonly schemaHash?: string;
  /** A place the snapshot must have reached, such as that of the group change a client has just seen. */
  readonly firstSyncId?: string;
  /** Sent by published clients: `full` at a start, `partial` for groups that were gained. */
  readonly type?: string;
}

const bootstrapQuestionSchema = {
  type: 'object',
  properties: {
    onlyModels: {
      type: 'string',
      maxLength: 4096,
      description: 'Comma-separated model names: no other model is sent. Default: all.',
    },
    syncGroups: {
      type: 'string',
      maxLength: 65_536,
      description: 'Comma-separated groups: narrows, never widens. Default: all groups of the caller.',
    },
    schemaHash: { type: 'string', maxLength: 256, description: 'Sent back in the first line.' },
    firstSyncId: { type: 'string', maxLength: 64, description: 'The snapshot is taken at this place or later.' },
    type: {
      type: 'string',
      maxLength: 64,
      description:
        'With `full`, a syncGroups that names the group of the caller stands for all groups of the caller: published clients repeat the list they were given last, which may be out of date.',
    },
  },
} as const;

const ndjson = 'application/x-ndjson';

const bootstrapOperation = {
  path: '/sync/bootstrap',
  description:
    'One JSON object per line. First `{"lastSyncId","subscribedSyncGroups","schemaHash","databaseVersion","epoch"}`, then a line `{"__class":"Task",...}` for every record, archived ones included, last `{"type":"end","rowCount"}`. The records are exactly the state at `lastSyncId`; go on from there with deltas. An answer without the last line is not whole.',
  tag: 'Sync',
  scope: 'read',
  query: bootstrapQuestionSchema,
  reply: {
    status: 200,
    contentType: ndjson,
    schema: { type: 'string', description: 'One JSON object per line.' },
    example:
      '{"lastSyncId":"42","subscribedSyncGroups":["0d9c…"],"schemaHash":"","databaseVersion":1,"epoch":"51f3…"}\n{"__class":"Task","id":"7a10…","title":"Write the report"}\n{"type":"end","rowCount":1}\n',
  },
  errors: [],
} as const;

export const bootstrap = contract<{ query: BootstrapQuestion }>({
  ...bootstrapOperation,
  id: 'syncBootstrap',
  method: 'GET',
  summary: 'Load everything the caller may see',
});

/** For lists too long for an address. */
export const bootstrapPost = contract<{ query: BootstrapQuestion; body: BootstrapQuestion | undefined }>({
  ...bootstrapOperation,
  id: 'syncBootstrapPost',
  method: 'POST',
  summary: 'Load everything the caller may see, asked for in a body',
  body: bootstrapQuestionSchema,
  bodyOptional: true,
  errors: ['malformed_json', 'payload_too_large', 'unsupported_media_type'],
});

/** Version of the records' shape as a whole: grows when clients must load everything again. */
export const DATABASE_VERSION = 1;

export type BatchRequest =
  | { readonly modelName: string; readonly indexedKey: string; readonly keyValue: string }
  | { readonly modelName: string; readonly groupId: string };

export const batch = contract<{ body: { requests: BatchRequest[]; firstSyncId?: string } }>({
  id: 'syncBatch',
  method: 'POST',
  path: '/sync/batch',
  summary: 'Load records by key or by group',
  description:
    'One line `{"__class":"Comment",...}` for every record asked for that the caller may see, each once, as it is now; nothing found is an empty answer. `indexedKey` is `id` or a field that holds the id of another record. `firstSyncId` is the place the answer must have reached; it never leaves records out.',
  tag: 'Sync',
  scope: 'read',
  body: {
    type: 'object',
    required: ['requests'],
    properties: {
      firstSyncId: syncIdText,
      requests: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.batchRequestsMax,
        items: {
          anyOf: [
            {
              type: 'object',
              required: ['modelName', 'indexedKey', 'keyValue'],
              properties: { modelName: clientText, indexedKey: clientText, keyValue: clientText },
            },
            {
              type: 'object',
              required: ['modelName', 'groupId'],
              properties: { modelName: clientText, groupId: clientText },
            },
          ],
        },
      },
    },
  },
  reply: {
    status: 200,
    contentType: ndjson,
    schema: { type: 'string', description: 'One JSON object per line.' },
    example: '{"__class":"Comment","id":"7a10…","body":"Done."}\n',
  },
  errors: ['malformed_json', 'payload_too_large', 'unsupported_media_type'],
});

export interface DeltasReply {
  readonly lastSyncId: string;
  readonly hasMore: boolean;
  readonly actions: readonly SyncAction[];
}

export const deltas = contract<{
  query: { after?: string; limit?: string; syncGroups?: string; actions?: 'words' | 'letters' };
  reply: DeltasReply;
}>({
  id: 'syncDeltas',
  method: 'GET',
  path: '/sync/deltas',
  summary: 'Read the log after a cursor',
  description: '`after` is exclusive. Follow pages with `after = lastSyncId` while `hasMore` is true.',
  tag: 'Sync',
  scope: 'read',
  query: {
    type: 'object',
    properties: {
      after: { ...syncIdText, description: 'Cursor, exclusive; default 0.' },
      limit: {
        type: 'string',
        pattern: '^[0-9]{1,9}$',
        description: `Default ${LIMITS.deltasLimitDefault}, clamped to 1..${LIMITS.deltasLimitMax}.`,
      },
      syncGroups: {
        type: 'string',
        maxLength: 8192,
        description: 'Comma-separated groups: narrows, never widens. Also asks for letters.',
      },
      actions: { type: 'string', enum: ['words', 'letters'], description: 'Spelling of `action`.' },
    },
  },
  reply: {
    status: 200,
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['lastSyncId', 'hasMore', 'actions'],
      properties: {
        lastSyncId: syncIdText,
        hasMore: { type: 'boolean' },
        actions: { type: 'array', items: syncActionSchema },
      },
    },
    example: { lastSyncId: '43', hasMore: false, actions: [] },
  },
  errors: ['bootstrap_required'],
});

/** The WebSocket door: mounted by the sync service, proxied by the gateway; the token stands in the query string. */
export const socket = contract<{ query: { token?: string } }>({
  id: 'syncSocket',
  method: 'GET',
  path: '/sync/ws',
  summary: 'Live deltas over WebSocket',
  description:
    'Upgrade with `?token=`; then send `{"type":"subscribe","afterSyncId","token"}`. Answers `subscribed`, then `delta` frames from `afterSyncId` on, ascending.',
  tag: 'Sync',
  scope: 'read',
  query: { type: 'object', properties: { token: { type: 'string', maxLength: 8192 } } },
  reply: { status: 101, schema: { type: 'string' } },
  errors: ['upgrade_required'],
});

/** A change asked for by another service. Nobody outside can reach this operation. */
export interface InternalMutation {
  readonly modelName: string;
  readonly modelId: string;
  readonly action: ActionName;
  readonly payload: { readonly [field: string]: unknown };
}

export interface InternalCommitReply {
  readonly ok: true;
  readonly lastSyncId: string;
  readonly mutations: readonly { readonly syncId: string; readonly modelName: string; readonly record: ModelRecord }[];
}

/**
 * The one door for change, for services: all mutations together or none. `authority: 'service'` lets the caller write
 * what no client may (a Workspace, a membership, a person), because the caller has decided it.
 * A refusal is answered with the error code of the refusal.
 */
export const internalCommit = contract<{
  body: { clientId: string; clientTxId: string; authority: 'service' | 'caller'; mutations: InternalMutation[] };
  reply: InternalCommitReply;
}>({
  id: 'internalCommit',
  method: 'POST',
  path: '/internal/commit',
  summary: 'Commit a unit of changes',
  tag: 'Internal',
  scope: 'none',
  internal: true,
  bodyBytesMax: LIMITS.mutateBodyBytes,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['clientId', 'clientTxId', 'authority', 'mutations'],
    properties: {
      clientId: clientText,
      clientTxId: clientText,
      authority: { type: 'string', enum: ['service', 'caller'] },
      mutations: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.mutateTransactionsMax,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['modelName', 'modelId', 'action', 'payload'],
          properties: {
            modelName: { type: 'string' },
            modelId: { type: 'string', pattern: UUID_PATTERN },
            action,
            payload: { type: 'object' },
          },
        },
      },
    },
  },
  reply: { status: 200, schema: { type: 'object' } },
  errors: ['conflict', 'slug_taken', 'last_owner', 'forbidden'],
});
