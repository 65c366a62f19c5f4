import { ERROR_CODES } from '@wts/contracts';
import { MODEL_NAMES } from '@wts/models';
import assert from 'node:assert/strict';
import { describeRoutes } from './openapi.ts';
import { API_ROUTES } from './routes.ts';

interface Answer {
  readonly headers?: object;
  readonly content?: Record<string, { schema: { $ref?: string } }>;
}
interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly 'x-required-scope'?: string;
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[];
  readonly description: string;
  readonly deprecated?: boolean;
  readonly responses: Record<string, Answer & { readonly $ref?: string }>;
}
interface Description {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly description: string; readonly 'x-build'?: object };
  readonly externalDocs: { readonly url: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
}

const description = describeRoutes(API_ROUTES, { serverUrl: 'https://api.example.com/' }) as unknown as Description;
/** The routes that do not belong to the page. */
const OPERATIONS = API_ROUTES.filter(({ contract }) => !contract.page);
const operations = Object.values(description.paths).flatMap((path) => Object.values(path));

function followed(reference: string): unknown {
  const keys = reference.replace('#/', '').split('/');
  return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], description);
}

describe('the description of the interface', () => {
  it('names the release and the commit that answer beside its own version', () => {
    const build = { version: '0.1.0', commit: 'abc123' };
    const { info } = describeRoutes(API_ROUTES, { serverUrl: 'https://x.test', build }) as unknown as Description;
    assert.deepEqual([info.version, info['x-build']], ['1.0.0', build]);
  });

  it('is OpenAPI 3.1 of version 1.0.0 and lists exactly the public routes [meta.openapi.complete, versioning.description.version]', () => {
    assert.match(description.openapi, /^3\.1\./);
    assert.equal(description.info.version, '1.0.0');
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
    );
    const served = OPERATIONS.map(({ contract: { id, method, path } }) => `${id} ${method} ${path}`);
    assert.deepEqual(described.sort(), served.sort());
    assert.doesNotMatch(JSON.stringify(description), /internal\/|Internal"/);
  });

  it('describes that it can be revalidated with its ETag and is then 304 [meta.openapi.answer]', () => {
    const own = description.paths['/openapi.json']?.['get'] as unknown as {
      readonly responses: Readonly<Record<number, { readonly headers: object; readonly content?: object }>>;
      readonly parameters: object;
    };
    const { 200: fresh, 304: same } = own.responses;
    assert.ok(fresh !== undefined && 'ETag' in fresh.headers);
    assert.ok(same !== undefined && 'ETag' in same.headers && same.content === undefined);
    assert.match(JSON.stringify(own.parameters), /IfNoneMatch/);
  });

  it('omits only its own page, and links to it [meta.openapi.complete]', () => {
    const left = API_ROUTES.filter((route) => !OPERATIONS.includes(route)).map(({ contract }) => contract.path);
    assert.deepEqual(left, [
      '/docs',
      '/docs/{version}/{file}',
      '/docs/',
      '/console',
      '/console/{version}/{file}',
      '/console/',
      '/',
    ]);
    assert.equal(description.externalDocs.url, 'https://api.example.com/docs');
  });

  it('names the credential of every operation, and none for public ones [authentication.bearer.every-call, sync.auth.each-call]', () => {
    for (const { contract } of OPERATIONS) {
      const operation = description.paths[contract.path]?.[contract.method.toLowerCase()];
      assert.deepEqual(operation?.security, contract.scope === 'none' ? [] : [{ bearer: [] }]);
      assert.equal(operation?.['x-required-scope'], contract.scope === 'none' ? undefined : contract.scope);
      assert.equal(operation?.responses[401] !== undefined, contract.scope !== 'none', contract.id);
    }
  });

  it('has the Api-Version parameter and response header everywhere, and one error shape', () => {
    for (const operation of operations) {
      assert.ok(operation.parameters.some((parameter) => parameter.$ref === '#/components/parameters/ApiVersion'));
      for (const [status, given] of Object.entries(operation.responses)) {
        const response = given.$ref === undefined ? given : (followed(given.$ref) as Answer);
        assert.ok(response.headers && 'Api-Version' in response.headers, `${operation.operationId} ${status}`);
        if (Number(status) < 400) continue;
        assert.equal(response.content?.['application/json']?.schema.$ref, '#/components/schemas/Error');
      }
    }
  });

  it('states that sync routes are not a stable platform API [versioning.sync.not-stable]', () => {
    const sync = description.tags.find((tag) => tag.name === 'Sync');
    assert.match(sync?.description ?? '', /Advanced transport.*Not packaged as a stable versioned platform API/s);
  });

  it('declares each parameter of a path', () => {
    for (const [path, methods] of Object.entries(description.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const operation of Object.values(methods)) {
        for (const name of names)
          assert.ok(
            operation.parameters.some((parameter) => parameter.name === name),
            path,
          );
      }
    }
  });

  it('has no reference to a missing schema', () => {
    for (const [, pointer = ''] of JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g))
      assert.notEqual(followed(`#/${pointer}`), undefined, pointer);
  });

  it('lists bootstrap as POST and as GET [meta.openapi.bootstrap-post]', () => {
    const { get, post } = description.paths['/sync/bootstrap'] ?? {};
    assert.equal(post?.operationId, 'syncBootstrapPost');
    assert.equal(post['x-required-scope'], 'read');
    assert.equal(get?.operationId, 'syncBootstrap');
  });

  it('has the schema of every model from the registry', () => {
    type Choice = { oneOf: { properties: { modelName: { const: string }; record: { $ref: string } } }[] };
    const { oneOf } = followed('#/components/schemas/AcceptedMutation') as Choice;
    assert.deepEqual(
      oneOf.map(({ properties: { modelName, record } }) => [modelName.const, record.$ref]),
      MODEL_NAMES.map((name) => [name, `#/components/schemas/${name}Record`]),
    );
    const { properties } = followed('#/components/schemas/TaskRecord') as { properties: Record<string, object> };
    for (const name of ['number', 'title', 'startDate', 'completedAt']) assert.ok(name in properties, name);
  });

  it('lists the required fields of an INSERT of each model and the lines of a bootstrap, from the registry [meta.openapi.examples]', () => {
    const { post } = description.paths['/sync/mutate'] ?? {};
    assert.ok(post?.description.includes('| `Task` | `workspaceId`, `title` |'));
    const { oneOf } = followed('#/components/schemas/BootstrapRecord') as { oneOf: { $ref: string }[] };
    assert.deepEqual(
      oneOf.map(({ $ref }) => $ref),
      MODEL_NAMES.map((name) => `#/components/schemas/${name}Line`),
    );
    for (const name of ['BootstrapStart', 'BootstrapEnd']) assert.ok(followed(`#/components/schemas/${name}`), name);
  });

  it('starts with a quick start and ends with the errors', () => {
    const headings = [...description.info.description.matchAll(/^## (.*)$/gm)].map((match) => match[1]);
    assert.equal(headings[0], 'Quick start');
    assert.equal(headings.at(-1), 'Errors');
  });

  it('has the rates of this deployment', () => {
    const of = (limit?: number): string | undefined => {
      const { paths } = describeRoutes(API_ROUTES, {
        serverUrl: 'https://x.test',
        rateLimits: limit === undefined ? {} : { rest: { limit } },
      }) as unknown as Description;
      return paths['/api/auth/keys']?.post?.description;
    };
    assert.match(of() ?? '', /At most 30000 requests in 60 seconds for each API key or signed-in person\./);
    assert.match(of(7) ?? '', /At most 7 requests in 60 seconds for each API key or signed-in person\./);
    assert.doesNotMatch(of(0) ?? '', /signed-in person/);
  });

  it('lists every error, also those that belong to no operation [errors.shape.fields]', () => {
    for (const code of ERROR_CODES) assert.ok(description.info.description.includes(`| \`${code}\` |`), code);
  });

  it('gives every constant a type and uses standard formats, for generators', () => {
    const schemas: object[] = [];
    JSON.stringify(description, (_key, value: unknown) => {
      if (typeof value === 'object' && value !== null && ('const' in value || 'format' in value)) schemas.push(value);
      return value;
    });
    assert.ok(schemas.length > 50);
    for (const schema of schemas) {
      assert.ok('type' in schema, JSON.stringify(schema));
      if ('format' in schema) assert.match(String(schema.format), /^(?:uuid|date|date-time|uri|idn-email)$/);
    }
  });

  it('marks deprecated operations, with their dates and what to use instead', () => {
    const row = {
      operation: 'listMembers',
      deprecatedOn: '2026-11-21',
      sunsetOn: '2027-03-01',
      link: 'https://docs.example.com/members',
    };
    const given = { serverUrl: 'https://x.test', deprecations: [row] };
    const { paths } = describeRoutes(API_ROUTES, given) as unknown as Description;
    const marked = Object.values(paths).flatMap((path) => Object.values(path).filter(({ deprecated }) => deprecated));
    assert.deepEqual(
      marked.map(({ operationId }) => operationId),
      ['listMembers'],
    );
    for (const word of [row.deprecatedOn, row.sunsetOn, row.link])
      assert.ok(marked[0]?.description.includes(word), word);
    for (const [path, wanted] of [
      ['/api/workspaces/{workspaceId}/members', ['Deprecation', 'Link', 'RateLimit', 'RateLimit-Policy', 'Sunset']],
      ['/api/workspaces', ['RateLimit', 'RateLimit-Policy']],
      ['/sync/deltas', []],
    ] as const) {
      const headers = paths[path]?.get?.responses['200']?.headers ?? {};
      const usual = ['Api-Version', 'X-Request-Id'];
      assert.deepEqual(
        Object.keys(headers)
          .filter((name) => !usual.includes(name))
          .toSorted(),
        wanted,
        path,
      );
    }
  });
});
