import assert from 'node:assert/strict';
import { getIntrospectionQuery, parse, validate } from 'graphql';
import { SCHEMA } from '../schema.ts';
import { introspectionOf } from './introspection.ts';

function refusal(text: string): string | undefined {
  const ast = parse(text);
  assert.deepEqual(validate(SCHEMA, ast), []);
  return introspectionOf(SCHEMA, ast).refusal?.message;
}

const ALL = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true });
const inside = ALL.slice(ALL.indexOf('__schema'), ALL.indexOf('fragment FullType')).trim().slice(0, -1);
const fragments = ALL.slice(ALL.indexOf('fragment FullType'));

describe('the cost of introspection [graphql.limit.introspection]', () => {
  it('allows the usual introspection, with everything that tools ask for', () => {
    assert.equal(refusal(ALL), undefined);
    assert.equal(
      refusal('query ($name: String!) { __type(name: $name) { name fields { name type { name } } } }'),
      undefined,
    );
  });

  it('refuses a small document that asks for the schema many times, with what to do', () => {
    const aliases = Array.from({ length: 20 }, (_, n) => `s${n}: ${inside}`).join('\n');
    const message = refusal(`{ ${aliases} } ${fragments}`);
    assert.match(message ?? '', /more than \d+ fields\. Ask for parts of the schema in several requests/);
  });

  it('refuses fragments that multiply the fields of each type, counting in milliseconds', () => {
    const again = Array.from({ length: 10 }, (_, n) => `f${n}: fields { name type { name } args { name } }`).join(' ');
    const document = `
      query ($name: String = "Task") { ${Array.from({ length: 19 }, (_, n) => `s${n}: __schema { types { ...T } }`).join(' ')} t: __type(name: $name) { ...T } }
      fragment T on __Type { name fields { type { ...U ofType { ...U ofType { ...U } } } } }
      fragment U on __Type { ${again} }`;
    const startedAt = process.cpuUsage().user;
    assert.ok(refusal(document));
    // Executing it takes seconds.
    assert.ok(process.cpuUsage().user - startedAt < 1_000_000);
  });

  it('counts the operations of a document together, because it counts them all before one runs', () => {
    const all = '__schema { types { fields { args { name type { name } } type { fields { name type { name } } } } } }';
    const operations = (count: number): string =>
      Array.from({ length: count }, (_, n) => `query q${n} { ${all} }`).join('\n');
    assert.equal(refusal(operations(2)), undefined);
    assert.match(refusal(operations(100)) ?? '', /more than \d+ fields/);
  });
});
