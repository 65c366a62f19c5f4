import assert from 'node:assert/strict';
import * as everything from '@wts/contracts';
import { contractsOf, Fault } from '@wts/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compile } from '../src/routes/index.ts';

const contracts = Object.values(everything).flatMap((api) => (typeof api === 'object' ? contractsOf(api) : []));

const ajv = new Ajv2020();

/** The value of a keyword everywhere in a schema. */
function all(keyword: string, schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema as Readonly<Record<string, unknown>>).flatMap(([name, part]) => [
    ...(name === keyword ? [part] : []),
    ...all(keyword, part),
  ]);
}

describe('the contracts of the repository', () => {
  it('are found', () => assert.ok(contracts.length >= 8));

  it('have words for every format, because its name does not say what to send', () => {
    const formats = new Set(contracts.flatMap(({ params, query, body }) => all('format', [params, query, body])));
    assert.ok(formats.size > 3);
    for (const format of formats)
      assert.throws(
        () => compile({ type: 'string', format }, 'body')('\u00fc'),
        ({ message }: Fault) => !/valid|format/.test(message),
        String(format),
      );
  });

  for (const { id, method, path, params, query, body, reply } of contracts) {
    it(`${id} can be mounted, and its replies checked`, () => {
      for (const schema of [params, query, body, reply.schema]) {
        if (schema === undefined) continue;
        assert.ok(ajv.validateSchema(schema), ajv.errorsText());
        // A schema that does not compile throws another error.
        try {
          compile(schema, id)(null);
        } catch (error) {
          assert.ok(error instanceof Fault, String(error));
        }
      }
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = Object.keys(params?.properties ?? {});
      assert.deepEqual(described, named, 'every parameter of the path has its rule');
      assert.ok(method !== 'GET' || body === undefined, 'a body of GET is never read');
    });
    if (reply.example !== undefined)
      it(`${id} has an example that matches its schema`, () => compile(reply.schema, id)(reply.example));
  }
});
