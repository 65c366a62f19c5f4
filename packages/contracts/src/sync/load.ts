import { contract, type BodyOf } from '../contract.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';
import { LIMITS } from '../limits.ts';
import type { TypeOf } from '../type-of.ts';
import { clientText, labelExample, syncIdText } from './parts.ts';

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
    schemaHash: { type: 'string', maxLength: 256, description: 'Text of your own; sent back in the first line.' },
    firstSyncId: { type: 'string', maxLength: 64, description: 'The snapshot is taken at this place or later.' },
    type: {
      type: 'string',
      maxLength: 64,
      description:
        'With `full`, a syncGroups that names the group of the caller stands for all groups of the caller: published clients repeat the list they were given last, which may be out of date.',
    },
  },
} as const;

/** What may be asked of a bootstrap, in the query or, with POST, in the body. Anything else a client adds is ignored. */
export type BootstrapQuestion = TypeOf<typeof bootstrapQuestionSchema>;

const ndjson = 'application/x-ndjson';

function lines(...values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

// Keeps sync.bootstrap.scope.
const bootstrapOperation = {
  path: '/sync/bootstrap',
  description:
    'One JSON object per line. First `{"lastSyncId","subscribedSyncGroups","schemaHash","databaseVersion","epoch"}`, then a line `{"__class":"Task",...}` for every record, archived ones included, last `{"type":"end","rowCount"}`. The records are exactly the state at `lastSyncId`; go on from there with deltas. An answer without the last line is not whole. When `databaseVersion` or `epoch` is not what you were told last, throw away what you have.',
  tag: 'Sync',
  scope: 'read',
  query: bootstrapQuestionSchema,
  reply: {
    status: 200,
    description: 'The first line, the records, the last line.',
    contentType: ndjson,
    schema: {
      type: 'string',
      description: 'One JSON object per line; a record is as in `TaskRecord` and its like, with `__class`.',
    },
    example: lines(
      {
        lastSyncId: '43',
        subscribedSyncGroups: [EXAMPLE_IDS.person, EXAMPLE_IDS.workspace],
        schemaHash: '',
        databaseVersion: 1,
        epoch: EXAMPLE_IDS.epoch,
      },
      { __class: 'Label', ...labelExample },
      { type: 'end', rowCount: 1 },
    ),
  },
  errors: [],
} as const;

export const bootstrap = contract({
  ...bootstrapOperation,
  id: 'syncBootstrap',
  method: 'GET',
  summary: 'Load everything the caller may see',
});

/** For lists too long for an address. */
export const bootstrapPost = contract({
  ...bootstrapOperation,
  id: 'syncBootstrapPost',
  method: 'POST',
  summary: 'Load everything the caller may see, asked for in a body',
  body: bootstrapQuestionSchema,
  bodyExample: { onlyModels: 'Task,Label', syncGroups: EXAMPLE_IDS.workspace },
  bodyOptional: true,
  errors: [],
});

/** Version of the records' shape as a whole: grows when clients must load everything again. */
export const DATABASE_VERSION = 1;

export type BatchRequest = BodyOf<typeof batch>['requests'][number];

export const batch = contract({
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
      firstSyncId: { ...syncIdText, description: 'A place in the log the answer must have reached.' },
      requests: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.batchRequestsMax,
        description: 'Answered together; what two of them name comes once.',
        items: {
          anyOf: [
            {
              type: 'object',
              description: 'Records by a key.',
              required: ['modelName', 'indexedKey', 'keyValue'],
              properties: {
                modelName: { ...clientText, description: 'Such as `Comment`.' },
                indexedKey: { ...clientText, description: '`id`, or a field that holds the id of another record.' },
                keyValue: { ...clientText, description: 'What that field must hold.' },
              },
            },
            {
              type: 'object',
              description: 'All records of a group.',
              required: ['modelName', 'groupId'],
              properties: {
                modelName: { ...clientText, description: 'Such as `Comment`.' },
                groupId: { ...clientText, description: 'A workspace, a private project, or yourself.' },
              },
            },
          ],
        },
      },
    },
  },
  bodyExample: {
    requests: [{ modelName: 'Label', indexedKey: 'workspaceId', keyValue: EXAMPLE_IDS.workspace }],
  },
  reply: {
    status: 200,
    description: 'The records; nothing when there are none.',
    contentType: ndjson,
    schema: {
      type: 'string',
      description: 'One JSON object per line: a record as in `TaskRecord` and its like, with `__class`.',
    },
    example: lines({ __class: 'Label', ...labelExample }),
  },
  errors: [],
});
