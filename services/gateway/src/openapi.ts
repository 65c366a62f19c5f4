import {
  API_VERSION,
  DESCRIPTION_VERSION,
  IDEMPOTENCY_KEY_PATTERN,
  LIMITS,
  SUPPORTED_API_VERSIONS,
  meta,
  syncApi,
} from '@wts/contracts';
import type { Contract, JsonSchema } from '@wts/contracts';
import type { Build } from '@wts/service-kit/config';
import type { Deprecation } from './deprecations.ts';
import { insertTable } from './openapi/model-schemas.ts';
import { overview } from './openapi/overview.ts';
import { RESPONSE_HEADERS, Responses, shown } from './openapi/responses.ts';
import { Schemas } from './openapi/schemas.ts';
import { RATE_POLICIES, withLimit, type RateLimits, type RatePolicy } from './rates/policies.ts';
import type { Route } from './routes.ts';

type Json = Record<string, unknown>;

/** The settings of a deployment that the description shows. */
interface Deployment {
  /** BASE_URL. */
  readonly serverUrl: string;
  readonly build?: Build;
  readonly rateLimits?: RateLimits;
  readonly deprecations?: readonly Deprecation[];
}

const TAGS: Record<Exclude<Contract['tag'], 'Agent' | 'Operator' | 'Internal'>, string> = {
  Workspaces: 'Workspaces, members and invitations.',
  'API keys': 'Personal API keys for scripts and integrations.',
  Webhooks: 'Endpoints that receive signed events, and their deliveries. The page `/console` shows them.',
  GraphQL: 'Queries and mutations over the data.',
  Sync: 'Tasks, projects and all other records: create, change, list and follow them. Advanced transport: bootstrap, deltas, mutations, live socket. Not packaged as a stable versioned platform API.',
  Meta: 'Health of the service, and this description.',
};

/**
 * The OpenAPI 3.1 description of the given routes: section 9 of the specification. Generated from the contracts, the tables of
 * errors, limits and rates, and the registry of models.
 * Keeps meta.openapi.answer, meta.openapi.complete, meta.openapi.bootstrap-post, versioning.description.version,
 * versioning.sync.not-stable.
 */
export function describeRoutes(routes: readonly Route[], deployment: Deployment): Json {
  const contracts = routes.map((route) => route.contract).filter((contract) => !contract.internal && !contract.page);
  const server = deployment.serverUrl.replace(/\/$/, '');
  const schemas = new Schemas();
  const responses = new Responses(schemas);
  const paths: Record<string, Json> = {};
  for (const contract of contracts) {
    const operation = describeOperation(contract, deployment, schemas, responses);
    paths[contract.path] = { ...paths[contract.path], [contract.method.toLowerCase()]: operation };
  }
  const used = new Set<string>(contracts.map((contract) => contract.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Workspace Task Service',
      version: DESCRIPTION_VERSION,
      ...(deployment.build === undefined ? {} : { 'x-build': deployment.build }),
      description: overview(server),
      contact: { name: 'The operator of this deployment', url: server },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { description: 'This description as a page', url: `${server}${meta.docs.path}` },
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
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
      schemas: schemas.named,
      responses: responses.shared,
      examples: responses.examples,
    },
  };
}

const PARAMETERS = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the answer you have. You get 304 when it has not changed.',
    schema: { type: 'string', maxLength: 1000 },
  },
  ApiVersion: {
    name: 'Api-Version',
    in: 'header',
    description: `API version. Default: the current one (${API_VERSION}). Any other value is refused with 400.`,
    schema: { type: 'string', enum: SUPPORTED_API_VERSIONS },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: `A text of your choice, new for each new request. A retry with the same key within ${LIMITS.idempotencyKeptMs / 3_600_000} hours gets the first answer, with \`Idempotency-Replayed: true\`, and has no second effect.`,
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN },
  },
} as const;

function describeOperation(
  contract: Contract,
  { rateLimits = {}, deprecations = [] }: Deployment,
  schemas: Schemas,
  responses: Responses,
): Json {
  const { id, summary, tag, scope, body } = contract;
  const notice = deprecations.find(({ operation }) => operation === id);
  const rates = RATE_POLICIES.filter((policy) => policy.appliesTo(contract)).flatMap(
    (policy) => withLimit(policy, rateLimits) ?? [],
  );
  return {
    operationId: id,
    summary,
    description: paragraphs(contract, rates, notice).join('\n\n'),
    tags: [tag],
    ...(notice === undefined ? {} : { deprecated: true }),
    security: scope === 'none' ? [] : [{ bearer: [] }],
    // In `security` only OAuth schemes may list scopes; API keys have scopes too.
    ...(scope === 'none' ? {} : { 'x-required-scope': scope }),
    parameters: [
      { $ref: '#/components/parameters/ApiVersion' },
      ...(contract.revalidated ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
      ...(contract.idempotencyKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...describeParameters(contract.params, 'path', schemas),
      ...describeParameters(contract.query, 'query', schemas),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: contract.bodyOptional !== true,
            content: {
              'application/json': {
                schema: schemas.refer(body),
                ...shown(contract.bodyExample, contract.bodyExamples),
              },
            },
          },
        }),
    responses: responses.of(contract, { isRated: rates.length > 0, isDeprecated: notice !== undefined }),
  };
}

function paragraphs(
  { id, description, scope }: Contract,
  rates: readonly RatePolicy[],
  notice: Deprecation | undefined,
): string[] {
  return [
    ...(notice === undefined
      ? []
      : [
          `Deprecated since ${notice.deprecatedOn}; it may stop answering from ${notice.sunsetOn} on. [What to use instead](${notice.link})`,
        ]),
    ...(description === undefined ? [] : [description]),
    ...(id === syncApi.mutate.id ? [insertTable()] : []),
    scope === 'none' ? 'No credential is needed.' : `Needs the scope \`${scope}\`.`,
    ...(rates.length === 0 ? [] : [rates.map(rateSentence).join(' ')]),
  ];
}

function rateSentence({ limit, windowSeconds, per, onStatus }: RatePolicy): string {
  const what = onStatus === undefined ? 'requests' : `refusals (${onStatus.join(', ')})`;
  return `At most ${limit} ${what} in ${windowSeconds} seconds for each ${WHOSE[per]}.`;
}

const WHOSE: Record<RatePolicy['per'], string> = {
  address: 'address',
  caller: 'API key or signed-in person',
  person: 'person',
};

function describeParameters(schema: JsonSchema | undefined, place: 'path' | 'query', schemas: Schemas): Json[] {
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema?.required ?? []) as readonly string[];
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: schemas.refer(rest),
  }));
}
