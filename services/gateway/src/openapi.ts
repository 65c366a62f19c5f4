import {
  API_VERSION,
  COMMON_ERRORS,
  CREDENTIAL_ERRORS,
  DESCRIPTION_VERSION,
  ERRORS,
  Fault,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PATTERN,
  SUPPORTED_API_VERSIONS,
  errorBody,
  errorBodySchema,
  syncActionSchema,
  syncApi,
  workspaceApi,
} from '@wts/contracts';
import type { Contract, ErrorCode, JsonSchema } from '@wts/contracts';
import type { Route } from './routes.ts';

type Json = Record<string, unknown>;

/** Schemas that get a name of their own; wherever a contract uses one of these objects, the name stands instead. */
const NAMED = new Map<unknown, string>([
  [errorBodySchema, 'Error'],
  [workspaceApi.workspaceSchema, 'Workspace'],
  [syncActionSchema, 'SyncAction'],
  [syncApi.syncTransactionSchema, 'SyncTransaction'],
]);

const TAGS: Record<Exclude<Contract['tag'], 'Internal'>, string> = {
  Workspaces: 'Workspaces, their members and invitations.',
  'API keys': 'Personal keys for scripts and integrations.',
  Webhooks: 'Endpoints that receive signed events, and their deliveries.',
  GraphQL: 'Queries and mutations over the data.',
  Sync: 'Advanced transport: bootstrap, deltas, mutations, live socket. Not packaged as a stable versioned platform API.',
  Meta: 'The state of the service and its description.',
};

/**
 * The OpenAPI 3.1 description of the given routes: section 9 of the specification. Nothing in it is written by hand.
 * Keeps meta.openapi.answer, meta.openapi.complete, versioning.description.version, versioning.sync.not-stable.
 */
export function describeRoutes(routes: readonly Route[], serverUrl: string): Json {
  const contracts = routes.map((route) => route.contract).filter((contract) => !contract.internal);
  const server = serverUrl.replace(/\/$/, '');
  const paths: Record<string, Json> = {};
  for (const contract of contracts) {
    paths[contract.path] = { ...paths[contract.path], [contract.method.toLowerCase()]: describeOperation(contract) };
  }
  const used = new Set<string>(contracts.map((contract) => contract.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Workspace Task Service',
      version: DESCRIPTION_VERSION,
      description: 'Tasks, projects and comments inside workspaces, with one server-ordered log of every change.',
      contact: { name: 'Whoever runs this deployment', url: server },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A personal API key, an OAuth access token, or the token of a signed-in user.',
        },
      },
      parameters: {
        ApiVersion: {
          name: 'Api-Version',
          in: 'header',
          description: `Version of the interface; the current one (${API_VERSION}) when absent. Others are refused with 400.`,
          schema: { type: 'string', enum: SUPPORTED_API_VERSIONS },
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description:
            'Text of your choice, new for each effect you want. The same request with the same key within 24 hours has no second effect and is given the first answer, with `Idempotency-Replayed: true`.',
          schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN },
        },
      },
      headers: HEADERS,
      schemas: Object.fromEntries([...NAMED].map(([schema, name]) => [name, expand(schema as JsonSchema)])),
      examples: Object.fromEntries(errorCodesOf(contracts).map((code) => [code, { value: errorExample(code) }])),
    },
  };
}

const HEADERS = {
  ApiVersion: {
    description: 'The version that answered.',
    required: true,
    schema: { type: 'string', enum: SUPPORTED_API_VERSIONS },
  },
  RequestId: { description: 'Names this request in our logs.', required: true, schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds until the same request may succeed.', schema: { type: 'integer' } },
  IdempotencyReplayed: {
    description: 'This answer was given before, to the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Challenge: { description: 'How to authenticate (RFC 6750).', schema: { type: 'string' } },
} as const;

const COMMON_HEADERS = {
  'Api-Version': { $ref: '#/components/headers/ApiVersion' },
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
};

function describeOperation(contract: Contract): Json {
  const { id, summary, description, tag, scope, body, reply } = contract;
  const needs = scope === 'none' ? 'Needs no credential.' : `Needs the scope \`${scope}\`.`;
  return {
    operationId: id,
    summary,
    description: description === undefined ? needs : `${description}\n\n${needs}`,
    tags: [tag],
    security: scope === 'none' ? [] : [{ bearer: [] }],
    // Only OAuth schemes may list scopes in `security`, and API keys have them too.
    ...(scope === 'none' ? {} : { 'x-required-scope': scope }),
    parameters: [
      { $ref: '#/components/parameters/ApiVersion' },
      ...(contract.idempotencyKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...describeParameters(contract.params, 'path'),
      ...describeParameters(contract.query, 'query'),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: contract.bodyOptional !== true,
            content: { 'application/json': { schema: refer(body) } },
          },
        }),
    responses: { [reply.status]: describeReply(contract), ...describeErrors(contract) },
  };
}

function describeParameters(schema: JsonSchema | undefined, place: 'path' | 'query'): Json[] {
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema?.required ?? []) as readonly string[];
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: refer(rest),
  }));
}

function describeReply({ reply, idempotencyKey }: Contract): Json {
  if (reply.status === 101) return { description: 'The connection is a WebSocket now.', headers: COMMON_HEADERS };
  const example = reply.example === undefined ? {} : { example: reply.example };
  return {
    description: 'Done.',
    headers: {
      ...COMMON_HEADERS,
      ...(idempotencyKey ? { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } } : {}),
    },
    content: { [reply.contentType ?? 'application/json']: { schema: refer(reply.schema), ...example } },
  };
}

function describeErrors(contract: Contract): Record<string, Json> {
  const byStatus = Map.groupBy(errorCodesOf([contract]), (code) => ERRORS[code].status);
  const responses: Record<string, Json> = {};
  for (const [status, codes] of [...byStatus].sort(([one], [other]) => one - other)) {
    responses[status] = {
      description: codes.map((code) => ERRORS[code].error).join('; or: '),
      headers: {
        ...COMMON_HEADERS,
        ...(status === 429 || status === 503 ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
        ...(status === 401 ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
      },
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
  }
  return responses;
}

function errorCodesOf(contracts: readonly Contract[]): ErrorCode[] {
  const codes = contracts.flatMap((contract) => [
    ...COMMON_ERRORS,
    ...(contract.scope === 'none' ? [] : CREDENTIAL_ERRORS),
    ...(contract.idempotencyKey ? IDEMPOTENCY_ERRORS : []),
    ...contract.errors,
  ]);
  return [...new Set(codes)];
}

function errorExample(code: ErrorCode): Json {
  const fault = new Fault(code, code === 'rate_limited' ? { retryAfterSeconds: 7 } : {});
  return { ...errorBody(fault, '0192f0c1-5b7e-7c3a-9d3e-2f6a1b4c8d90') };
}

/** The schema with named schemas inside it replaced by their names. */
function refer(schema: unknown): unknown {
  const name = NAMED.get(schema);
  return name === undefined ? expand(schema) : { $ref: `#/components/schemas/${name}` };
}

function expand(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(refer);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]));
}
