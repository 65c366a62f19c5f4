import assert from 'node:assert/strict';
import { describeRoutes } from './openapi.ts';
import { API_ROUTES } from './routes.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly 'x-required-scope'?: string;
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[];
  readonly responses: Record<string, { headers?: object; content?: Record<string, { schema: { $ref?: string } }> }>;
}
interface Description {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
}

const description = describeRoutes(API_ROUTES, 'https://api.example.com/') as unknown as Description;
const operations = Object.values(description.paths).flatMap((path) => Object.values(path));

describe('the description of the interface', () => {
  it('is OpenAPI 3.1 of version 1.0.0 and lists exactly the public routes [meta.openapi.complete, versioning.description.version]', () => {
    assert.match(description.openapi, /^3\.1\./);
    assert.equal(description.info.version, '1.0.0');
    const described = operations.map((operation) => operation.operationId).sort();
    assert.deepEqual(described, API_ROUTES.map((route) => route.contract.id).sort());
    assert.doesNotMatch(JSON.stringify(description), /internal\/|Internal"/);
  });

  it('says for every operation which credential it needs, and none for public ones [authentication.bearer.every-call, sync.auth.each-call]', () => {
    for (const { contract } of API_ROUTES) {
      const operation = description.paths[contract.path]?.[contract.method.toLowerCase()];
      assert.deepEqual(operation?.security, contract.scope === 'none' ? [] : [{ bearer: [] }]);
      assert.equal(operation?.['x-required-scope'], contract.scope === 'none' ? undefined : contract.scope);
      assert.equal(operation?.responses[401] !== undefined, contract.scope !== 'none', contract.id);
    }
  });

  it('has the Api-Version parameter and response header everywhere, and one error shape', () => {
    for (const operation of operations) {
      assert.ok(operation.parameters.some((parameter) => parameter.$ref === '#/components/parameters/ApiVersion'));
      for (const [status, response] of Object.entries(operation.responses)) {
        assert.ok(response.headers && 'Api-Version' in response.headers, `${operation.operationId} ${status}`);
        if (Number(status) < 400) continue;
        assert.equal(response.content?.['application/json']?.schema.$ref, '#/components/schemas/Error');
      }
    }
  });

  it('says that sync routes are no stable platform interface [versioning.sync.not-stable]', () => {
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

  it('refers only to what it holds', () => {
    for (const [, pointer = ''] of JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], description);
      assert.notEqual(found, undefined, pointer);
    }
  });
});
