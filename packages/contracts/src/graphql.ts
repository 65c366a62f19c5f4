import { contract } from './contract.ts';
import { LIMITS } from './limits.ts';

/** Of the draft "GraphQL over HTTP". */
export const RESPONSE_TYPE = 'application/graphql-response+json';

const shared = { tag: 'GraphQL' } as const;

const object = (description: string) =>
  ({ type: ['object', 'null'], additionalProperties: true, description }) as const;

const documentText = {
  type: 'string',
  maxLength: LIMITS.graphDocumentCharsMax,
  description: 'The document: one or more operations, and fragments.',
} as const;
const properties = {
  variables: object('Values of the variables of the operation.'),
  operationName: {
    type: ['string', 'null'],
    maxLength: 255,
    description: 'The operation to run, when the document has several.',
  },
} as const;

/** Keeps graphql.post.body, graphql.scope.any-bearer. */
export const query = contract({
  ...shared,
  id: 'graphql',
  method: 'POST',
  path: '/graphql',
  summary: 'Run a GraphQL operation',
  description: [
    'Runs one query or mutation of the schema at `/graphql/schema.graphql`. The status is 200 also when the operation failed: then `errors` says why, with `extensions.code` for programs. With `Accept: application/graphql-response+json` a request that could not be executed is 400 instead.',
    'Mutations need the scope `write`. An operation is at most 10 levels deep and may ask for at most 10000 records. With `X-GraphQL-Cost: 1` the answer has its cost in `extensions.cost`. `query` may be left out when `extensions.persistedQuery.sha256Hash` names a document that the server knows.',
  ].join('\n\n'),
  scope: 'read',
  callers: ['agent'],
  body: {
    anyOf: [
      {
        type: 'object',
        description: 'An operation with its document.',
        additionalProperties: true,
        required: ['query'],
        properties: {
          query: documentText,
          ...properties,
          extensions: object('For tools; `persistedQuery` stores the document.'),
        },
      },
      {
        type: 'object',
        description: 'An operation by the hash of its document.',
        additionalProperties: true,
        required: ['extensions'],
        properties: {
          query: { ...documentText, type: ['string', 'null'] },
          ...properties,
          extensions: object('`persistedQuery`: names a document by its hash.'),
        },
      },
    ],
  },
  bodyBytesMax: LIMITS.bodyBytes,
  bodyExample: { query: 'query Me { viewer { id name } }' },
  reply: {
    status: 200,
    description: 'The result.',
    negotiatedType: RESPONSE_TYPE,
    refusalExample: {
      errors: [{ message: 'Cannot query field "nam" on type "User".', extensions: { code: 'VALIDATION_FAILED' } }],
    },
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        data: object('What the operation selects; absent when it did not run.'),
        errors: {
          type: 'array',
          description: 'What failed; absent when nothing did.',
          items: { type: 'object', additionalProperties: true, description: '`message`, `path`, `extensions.code`.' },
        },
        extensions: object('`cost`, when it was asked for.'),
      },
    },
    example: { data: { viewer: { id: '0192f0c1-5b7e-7c3a-9d3e-2f6a1b4c8d90', name: 'Ada' } } },
  },
  errors: ['not_acceptable'],
});

export const schema = contract({
  ...shared,
  id: 'graphqlSchema',
  method: 'GET',
  path: '/graphql/schema.graphql',
  summary: 'Read the GraphQL schema',
  description: 'The schema in the schema definition language, with descriptions and deprecation reasons.',
  scope: 'none',
  reply: {
    status: 200,
    description: 'The schema.',
    contentType: 'text/plain; charset=utf-8',
    schema: { type: 'string', description: 'A document of type definitions.' },
    example: 'type Query {\n  viewer: User!\n}\n',
  },
});
