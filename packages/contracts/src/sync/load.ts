import { objectOf } from '../parts.ts';
import { contract, type BodyOf } from '../contract.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';
import { LIMITS } from '../limits.ts';
import type { JsonSchema, TypeOf } from '../type-of.ts';
import { batchBodyExamples, taskExample } from './examples.ts';
import { clientText, syncIdText } from './parts.ts';

const bootstrapQuestionSchema = {
  type: 'object',
  properties: {
    onlyModels: {
      type: 'string',
      maxLength: 4096,
      description: 'Comma-separated model names such as `Task,Comment`. Default: all.',
    },
    syncGroups: {
      type: 'string',
      maxLength: 65_536,
      description:
        'Comma-separated ids of workspaces, private projects or yourself: narrows the answer, never widens it. Default: all.',
    },
    schemaHash: { type: 'string', maxLength: 256, description: 'A text of your choice; returned in the first line.' },
    firstSyncId: {
      type: 'string',
      maxLength: 64,
      description: 'The snapshot is taken at this position of the log or later.',
    },
    type: {
      type: 'string',
      maxLength: 64,
      description:
        'With `full`, a `syncGroups` that contains your own id means all: published clients repeat their last list, which may be out of date.',
    },
  },
} as const;

/** The parameters of a bootstrap, in the query or, with POST, in the body. Other ones are ignored. */
export type BootstrapParameters = TypeOf<typeof bootstrapQuestionSchema>;

const ndjson = 'application/x-ndjson';

function lines(...values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** The first line of a bootstrap. */
export const bootstrapStartSchema = {
  description: 'The first line of a bootstrap.',
  ...objectOf({
    lastSyncId: { ...syncIdText, description: 'The records are the state at this position. Continue from here.' },
    subscribedSyncGroups: {
      type: 'array',
      items: { type: 'string' },
      description: 'Your own id, and those of the workspaces and private projects you can see.',
    },
    schemaHash: { type: 'string', description: 'The `schemaHash` you sent, or an empty text.' },
    databaseVersion: { type: 'integer', description: 'When it differs from the last one you got, discard your data.' },
    epoch: { type: 'string', description: 'Names the database. When it differs from the last one, discard your data.' },
  }),
} as const;

/** The line of a record; `/openapi.json` replaces it with the models and their fields. */
export const bootstrapRecordSchema: JsonSchema = { type: 'object', description: 'A record, its model in `__class`.' };

/** The last line of a bootstrap. */
export const bootstrapEndSchema = {
  description: 'The last line of a bootstrap. An answer without it is incomplete: ask again.',
  ...objectOf({
    type: { const: 'end', description: 'Always `end`.' },
    rowCount: { type: 'integer', description: 'How many records were sent.' },
  }),
} as const;

const bootstrapLinesSchema = {
  type: 'string',
  contentMediaType: ndjson,
  contentSchema: { anyOf: [bootstrapStartSchema, bootstrapRecordSchema, bootstrapEndSchema] },
  description:
    'One JSON object per line: one `BootstrapStart`, a `BootstrapRecord` for each record, one `BootstrapEnd`.',
} as const;

// Keeps sync.bootstrap.scope.
const bootstrapOperation = {
  path: '/sync/bootstrap',
  description:
    'Returns one JSON object per line (NDJSON): first a `BootstrapStart`, then a `BootstrapRecord` such as `{"__class":"Task",...}` for every task and other record you can see, archived ones included, last a `BootstrapEnd`. The records are exactly the state at `lastSyncId`; continue from there with deltas or the socket. An answer without the last line is incomplete. When `databaseVersion` or `epoch` differs from the last one you got, discard your data.',
  tag: 'Sync',
  scope: 'read',
  query: bootstrapQuestionSchema,
  reply: {
    status: 200,
    description: '`BootstrapStart`, the records, `BootstrapEnd`.',
    contentType: ndjson,
    schema: bootstrapLinesSchema,
    example: lines(
      {
        lastSyncId: '43',
        subscribedSyncGroups: [EXAMPLE_IDS.person, EXAMPLE_IDS.workspace],
        schemaHash: '',
        databaseVersion: 1,
        epoch: EXAMPLE_IDS.epoch,
      },
      { __class: 'Task', ...taskExample },
      { type: 'end', rowCount: 1 },
    ),
  },
} as const;

export const bootstrap = contract({
  ...bootstrapOperation,
  id: 'syncBootstrap',
  method: 'GET',
  summary: 'Load everything you can see',
});

/** For lists too long for a URL. */
export const bootstrapPost = contract({
  ...bootstrapOperation,
  id: 'syncBootstrapPost',
  method: 'POST',
  summary: 'Load everything you can see, options in a body',
  body: bootstrapQuestionSchema,
  bodyExample: { onlyModels: 'Task,Label', syncGroups: EXAMPLE_IDS.workspace },
  bodyOptional: true,
});

/** Version of the shape of all records: increases when clients must load everything again. */
export const DATABASE_VERSION = 1;

export type BatchRequest = BodyOf<typeof batch>['requests'][number];

export const batch = contract({
  id: 'syncBatch',
  method: 'POST',
  path: '/sync/batch',
  summary: 'List records: the tasks of a workspace, for example',
  description:
    'Lists tasks and other records, such as the tasks of a workspace or the comments of a task. Returns one line such as `{"__class":"Task",...}` for every matching record you can see, each once, in its current state; the answer is empty when nothing matches. `indexedKey` is `id` or a field that holds the id of another record.',
  tag: 'Sync',
  scope: 'read',
  body: {
    type: 'object',
    required: ['requests'],
    properties: {
      firstSyncId: { ...syncIdText, description: 'The answer includes all changes up to this position in the log.' },
      requests: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.batchRequestsMax,
        description: 'A record that matches several requests is returned once.',
        items: {
          anyOf: [
            {
              type: 'object',
              description: 'Records by a key.',
              required: ['modelName', 'indexedKey', 'keyValue'],
              properties: {
                modelName: { ...clientText, description: 'Such as `Task`.' },
                indexedKey: { ...clientText, description: '`id`, or a field that holds the id of another record.' },
                keyValue: { ...clientText, description: 'The id that the field must have.' },
              },
            },
            {
              type: 'object',
              description: 'All records of a model in a workspace or private project.',
              required: ['modelName', 'groupId'],
              properties: {
                modelName: { ...clientText, description: 'Such as `Task`.' },
                groupId: { ...clientText, description: 'The id of a workspace, of a private project, or of yourself.' },
              },
            },
          ],
        },
      },
    },
  },
  bodyExamples: batchBodyExamples,
  reply: {
    status: 200,
    description: 'The records, one per line; empty when there are none.',
    contentType: ndjson,
    schema: {
      type: 'string',
      contentMediaType: ndjson,
      contentSchema: bootstrapRecordSchema,
      description: 'One `BootstrapRecord` per line.',
    },
    example: lines({ __class: 'Task', ...taskExample }),
  },
});
