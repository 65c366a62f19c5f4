import { modelRecordSchema } from '../actions.ts';
import { contract, type BodyOf, type ReplyOf } from '../contract.ts';
import type { ErrorCode } from '../errors.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';
import { UUID_PATTERN } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { okBody } from '../parts.ts';
import { typed, type TypeOf } from '../type-of.ts';
import { action, clientText, labelExample, modelNameText, syncIdText } from './parts.ts';

/** One change a client asks for: section 2 of the specification. Keeps sync.transaction.fields. */
export const syncTransactionSchema = {
  type: 'object',
  description: 'One change to one record.',
  required: ['clientTxId', 'clientId', 'modelName', 'modelId', 'action', 'payload'],
  properties: {
    clientTxId: {
      ...clientText,
      description: `Your name for this change, such as a new UUID. The same one sent again within ${LIMITS.idempotencyDays} days is answered, not applied again.`,
    },
    clientId: { ...clientText, description: 'Your name for the device or process the change is from.' },
    modelName: modelNameText,
    modelId: {
      type: 'string',
      pattern: UUID_PATTERN,
      description: 'The record. For `INSERT` you choose it: a new UUID.',
    },
    action,
    payload: {
      type: 'object',
      description:
        'Fields and their values: all that have no default for `INSERT`, those that change for `UPDATE`, none for the others. What the server assigns is ignored.',
    },
  },
} as const;

export type SyncTransaction = TypeOf<typeof syncTransactionSchema>;

export const acceptedMutationSchema = {
  type: 'object',
  description: 'A change that was made, with its record.',
  additionalProperties: false,
  required: ['clientTxId', 'syncId', 'modelName', 'modelId', 'action', 'record'],
  properties: {
    clientTxId: { type: 'string', description: 'Which one.' },
    syncId: { ...syncIdText, description: 'Its place in the log.' },
    modelName: { type: 'string', description: 'Such as `Task`.' },
    modelId: { type: 'string', description: 'The record.' },
    action,
    record: modelRecordSchema,
  },
} as const;

export type AcceptedMutation = TypeOf<typeof acceptedMutationSchema>;
export type MutateReply = ReplyOf<typeof mutate>;
export type MutationResult = MutateReply['results'][number];

// Keeps sync.mutate.scope.
export const mutate = contract({
  id: 'syncMutate',
  method: 'POST',
  path: '/sync/mutate',
  summary: 'Apply a batch of changes',
  description:
    'Transactions are applied in order; each has its own result. A refused transaction does not stop the others. An accepted one is on disk and in the log when you are answered, and `syncId` says where: once your deltas or your socket have come to that place, you have it and all before it. Where two change the same field, the later place in the log wins.',
  tag: 'Sync',
  scope: 'write',
  bodyBytesMax: LIMITS.mutateBodyBytes,
  body: {
    type: 'object',
    required: ['batchId', 'transactions'],
    properties: {
      batchId: { ...clientText, description: 'Your name for the batch, for your own logs.' },
      transactions: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.mutateTransactionsMax,
        items: syncTransactionSchema,
        description: 'Applied in this order.',
      },
    },
  },
  bodyExample: {
    batchId: 'batch-1',
    transactions: [
      {
        clientTxId: EXAMPLE_IDS.clientTx,
        clientId: 'laptop',
        modelName: 'Label',
        modelId: EXAMPLE_IDS.label,
        action: 'INSERT',
        payload: { workspaceId: EXAMPLE_IDS.workspace, name: 'urgent', color: '#d33a2c' },
      },
    ],
  },
  reply: {
    status: 200,
    description:
      'What became of each transaction. Look at `success`: a refused transaction is answered here, not by a status.',
    schema: okBody({
      success: { type: 'boolean', description: 'True when every transaction was accepted.' },
      lastSyncId: {
        ...syncIdText,
        description: 'Highest place in the log this batch reached; a cursor at or past it has seen it.',
      },
      results: {
        type: 'array',
        description: 'One for each transaction, in their order.',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['clientTxId', 'success'],
          properties: {
            clientTxId: { type: 'string', description: 'Which one.' },
            success: { type: 'boolean', description: 'Whether it was accepted.' },
            syncId: {
              ...syncIdText,
              description: 'When accepted: its place in the log, or the last place of what it brought with it.',
            },
            error: { type: 'string', description: 'Why it was refused, for a person.' },
            code: typed<ErrorCode>({ type: 'string', description: 'Why it was refused: one of the error codes.' }),
          },
        },
      },
      mutations: {
        type: 'array',
        description: 'The accepted ones, with their records.',
        items: acceptedMutationSchema,
      },
    }),
    example: {
      ok: true,
      success: true,
      lastSyncId: '43',
      results: [{ clientTxId: EXAMPLE_IDS.clientTx, success: true, syncId: '43' }],
      mutations: [
        {
          clientTxId: EXAMPLE_IDS.clientTx,
          syncId: '43',
          modelName: 'Label',
          modelId: EXAMPLE_IDS.label,
          action: 'INSERT',
          record: labelExample,
        },
      ],
    },
  },
  errors: [],
});

/** A change asked for by another service. Nobody outside can reach this operation. */
export type InternalMutation = BodyOf<typeof internalCommit>['mutations'][number];
export type InternalCommitReply = ReplyOf<typeof internalCommit>;

/**
 * The one door for change, for services: all mutations together or none. `authority: 'service'` lets the caller write
 * what no client may (a Workspace, a membership, a person), because the caller has decided it.
 * A refusal is answered with the error code of the refusal.
 */
export const internalCommit = contract({
  id: 'internalCommit',
  method: 'POST',
  path: '/internal/commit',
  summary: 'Commit a unit of changes',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['workspace', 'graph'], authority: ['workspace'] },
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
  reply: {
    status: 200,
    schema: okBody({
      lastSyncId: syncIdText,
      mutations: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['syncId', 'modelName', 'record'],
          properties: { syncId: syncIdText, modelName: { type: 'string' }, record: modelRecordSchema },
        },
      },
    }),
  },
  errors: ['conflict', 'slug_taken', 'last_owner', 'forbidden'],
});
