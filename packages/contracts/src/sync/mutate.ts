import { modelRecordSchema } from '../actions.ts';
import { contract, type BodyOf, type ReplyOf } from '../contract.ts';
import type { ErrorCode } from '../errors.ts';
import { UUID_PATTERN } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { objectOf, okBody } from '../parts.ts';
import { typed, type TypeOf } from '../type-of.ts';
import { mutateBodyExamples, mutateReplyExamples } from './examples.ts';
import { action, clientText, modelNameText, syncIdText } from './parts.ts';

/** One change of a client: section 2 of the specification. Keeps sync.transaction.fields. */
export const syncTransactionSchema = {
  type: 'object',
  description: 'One change to one record.',
  required: ['clientTxId', 'clientId', 'modelName', 'modelId', 'action', 'payload'],
  properties: {
    clientTxId: {
      ...clientText,
      description: `Your name for this change, such as a new UUID. Sent again within ${LIMITS.idempotencyDays} days, it gets the first answer and is not applied twice.`,
    },
    clientId: { ...clientText, description: 'Your name for the device or process the change is from.' },
    modelName: modelNameText,
    modelId: {
      type: 'string',
      pattern: UUID_PATTERN,
      description: 'The id of the record. For `INSERT`, choose a new UUID.',
    },
    action,
    payload: {
      type: 'object',
      description:
        'Fields and their values. `INSERT`: every field without a default. `UPDATE`: the fields to change. Other actions: `{}`; the `ARCHIVE` of a workspace repeats its `urlKey`, and a `DELETE` with `ifArchivedAt` deletes the record only while it is archived since that time. Fields that the server assigns are ignored. `sortOrder` may be a rank, or the place for which the server computes one: `{"after": id}`, `{"before": id}`, or both for the place between two records of the same list.',
    },
  },
} as const;

export type SyncTransaction = TypeOf<typeof syncTransactionSchema>;

export const acceptedMutationSchema = {
  description: 'An accepted change, with its record.',
  ...objectOf({
    clientTxId: { type: 'string', description: 'The transaction.' },
    syncId: { ...syncIdText, description: 'Its position in the log.' },
    modelName: { type: 'string', description: 'Such as `Task`.' },
    modelId: { type: 'string', description: 'The record.' },
    action,
    record: modelRecordSchema,
  }),
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
    'Creates, changes, archives and deletes tasks and all other records. Transactions are applied in order; each has its own result, and a refused one does not stop the others.\n\n**A refused transaction is answered with status 200: check `success` in the body, and `error` and `code` of each result.**\n\nAn accepted transaction is durable before you get the answer. Its `syncId` is its position in the log: when your deltas or your socket have reached that position, you have this change and all before it. When two transactions change the same field, the later position wins.\n\nA record that is archived, and what belongs to a task in the Trash, is refused other changes with `record_archived`; restore it with `UNARCHIVE` first. Everything in a deleted workspace is refused with `workspace_archived`.\n\nChanges of workspaces, of their members and of who sees a private project need the scope `admin`.',
  tag: 'Sync',
  scope: 'write',
  callers: ['graph'],
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
  bodyExamples: mutateBodyExamples,
  reply: {
    status: 200,
    description: 'The result of each transaction. **A refused transaction has status 200 too: check `success`.**',
    schema: okBody({
      success: { type: 'boolean', description: 'True when every transaction was accepted.' },
      lastSyncId: {
        ...syncIdText,
        description: 'The highest position in the log that this batch reached; `0` when no transaction was accepted.',
      },
      results: {
        type: 'array',
        description: 'One for each transaction, in the same order.',
        items: objectOf(
          {
            clientTxId: { type: 'string', description: 'The transaction.' },
            success: { type: 'boolean', description: 'Whether it was accepted.' },
          },
          {
            syncId: {
              ...syncIdText,
              description: 'When accepted: its position in the log, or the last position of the changes it caused.',
            },
            error: { type: 'string', description: 'Why it was refused, for people.' },
            code: typed<ErrorCode>({ type: 'string', description: 'Why it was refused, for programs: an error code.' }),
          },
        ),
      },
      mutations: {
        type: 'array',
        description: 'The accepted transactions, with their records.',
        items: acceptedMutationSchema,
      },
    }),
    examples: mutateReplyExamples,
  },
});

/** A change of another service. */
export type InternalMutation = BodyOf<typeof internalCommit>['mutations'][number];
export type InternalCommitReply = ReplyOf<typeof internalCommit>;

/**
 * Commits changes of other services: all mutations together or none. `authority: 'service'` lets the caller write records that no
 * client may (a Workspace, a membership, a person), because the caller has checked the permission. A refusal has its error code.
 */
export const internalCommit = contract({
  id: 'internalCommit',
  method: 'POST',
  path: '/internal/commit',
  summary: 'Commit a unit of changes',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['workspace', 'auth', 'graph'], authority: ['workspace', 'auth'] },
  bodyBytesMax: LIMITS.mutateBodyBytes,
  body: objectOf({
    clientId: clientText,
    clientTxId: clientText,
    authority: { type: 'string', enum: ['service', 'caller'] },
    mutations: {
      type: 'array',
      minItems: 1,
      maxItems: LIMITS.mutateTransactionsMax,
      items: objectOf({
        modelName: { type: 'string' },
        modelId: { type: 'string', pattern: UUID_PATTERN },
        action,
        payload: { type: 'object' },
      }),
    },
  }),
  reply: {
    status: 200,
    schema: okBody({
      lastSyncId: syncIdText,
      mutations: {
        type: 'array',
        items: objectOf({ syncId: syncIdText, modelName: { type: 'string' }, record: modelRecordSchema }),
      },
    }),
  },
  errors: ['conflict', 'slug_taken', 'last_owner', 'forbidden'],
});
