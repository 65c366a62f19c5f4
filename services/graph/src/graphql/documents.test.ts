import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buildSchema } from 'graphql';
import { GRAPH_LIMITS } from '../limits.ts';
import { Documents, operationOf, type Document, type DocumentOutcome } from './documents.ts';

const schema = buildSchema(`
  type Query { task(id: ID): Task tasks(first: Int, filter: Filter): TaskConnection! }
  type Mutation { nothing: Boolean }
  input Filter { and: [Filter!] eq: String }
  type TaskConnection { nodes: [Task!]! }
  type Task { id: ID! title: String project: Task }
`);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const byText = (documents: Documents, text: string): ReturnType<Documents['find']> =>
  documents.find({ text, hash: null });

function refusal(text: string): { readonly code: unknown; readonly message: string } {
  const found = byText(new Documents({ schema }), text);
  assert.ok(!('ast' in found), `not refused: ${text.slice(0, 80)}`);
  return { code: found[0]?.extensions.code, message: found[0]?.message ?? '' };
}

function read(text: string): Document {
  const found = byText(new Documents({ schema }), text);
  assert.ok('ast' in found, 'message' in found ? String(found.message) : 'refused');
  return found;
}

describe('documents', () => {
  it('are parsed and validated once while they are in memory', () => {
    const outcomes: DocumentOutcome[] = [];
    const documents = new Documents({ schema, observe: (outcome) => outcomes.push(outcome) });
    const first = byText(documents, '{ task { id } }');
    assert.equal(byText(documents, '{ task { id } }'), first);
    assert.equal(byText(documents, '{ task { id } }'), first);
    byText(documents, '{ wrong }');
    assert.deepEqual(outcomes, ['read', 'known', 'known', 'refused']);
  });

  it('that are used stay in memory, however many others are sent once, in a bounded size', () => {
    const outcomes: DocumentOutcome[] = [];
    const documents = new Documents({ schema, observe: (outcome) => outcomes.push(outcome) });
    const used = '{ task { id title } }';
    byText(documents, used);
    byText(documents, used);
    const padding = '#'.repeat(200_000);
    for (let number = 0; number < 60; number += 1) byText(documents, `query a${number} { task { id } } ${padding}`);
    assert.ok(documents.bytes <= GRAPH_LIMITS.documentsUsedOnceBytesMax + 4096, String(documents.bytes));
    outcomes.length = 0;
    byText(documents, used);
    byText(documents, `query a0 { task { id } } ${padding}`);
    assert.deepEqual(outcomes, ['known', 'read']);
    for (let number = 0; number < 300; number += 1)
      for (let use = 0; use < 2; use += 1) byText(documents, `query b${number} { task { id } } ${padding}`);
    assert.ok(documents.bytes <= GRAPH_LIMITS.documentsBytesMax + GRAPH_LIMITS.documentsUsedOnceBytesMax);
  });

  it('are found by the hash of their text, and only that one [graphql.documents.hash]', () => {
    const documents = new Documents({ schema });
    const text = '{ task { title } }';
    const hash = sha256(text);
    assert.equal(
      (documents.find({ text: null, hash }) as readonly { message: string }[])[0]?.message,
      'PersistedQueryNotFound',
    );
    const sent = documents.find({ text, hash });
    assert.equal(documents.find({ text: null, hash }), sent);
    byText(documents, text);
    assert.equal(documents.find({ text: null, hash }), sent);
    const foreign = documents.find({ text: '{ task { id } }', hash });
    assert.ok(!('ast' in foreign));
    assert.equal(foreign[0]?.extensions.code, 'BAD_USER_INPUT');
    assert.ok(!('ast' in documents.find({ text, hash: 'ABC' })));
  });

  it('of a list are the only ones that run [graphql.documents.hash]', () => {
    const text = '{ task { id } }';
    const documents = new Documents({ schema, allowed: new Map([['one', text]]) });
    assert.ok('ast' in documents.find({ text: null, hash: 'one' }));
    assert.ok('ast' in byText(documents, text));
    const other = byText(documents, '{ task { title } }');
    assert.ok(!('ast' in other));
    assert.equal(other[0]?.extensions.code, 'FORBIDDEN');
    assert.throws(() => new Documents({ schema, allowed: new Map([['two', '{ wrong }']]) }), /DOCUMENTS_FILE: two/);
  });

  it('with several operations need the name of one', () => {
    const document = read('query a { task { id } } query b { task { title } }');
    assert.equal((operationOf(document, 'b') as { name: string }).name, 'b');
    for (const name of [null, 'c']) assert.ok(operationOf(document, name) instanceof Error);
  });

  it('may use a variable of the type String where an ID is expected, and no other type', () => {
    read('query a($id: String!) { task(id: $id) { id } }');
    read('query a($id: String) { task(id: $id) { id } }');
    assert.equal(refusal('query a($id: Int) { task(id: $id) { id } }').code, 'VALIDATION_FAILED');
    assert.equal(
      refusal('query a($text: ID) { tasks(filter: { eq: $text }) { nodes { id } } }').code,
      'VALIDATION_FAILED',
    );
  });

  it('must not contain a NUL character in a text', () =>
    assert.match(refusal('{ task(id: "a\\u0000") { id } }').message, /NUL/));

  it('that are hostile are refused with a code, and without a message of the engine [graphql.limit.shape]', () => {
    const levels = (count: number): string => `{${'task{'.repeat(count)}id${'}'.repeat(count)}}`;
    const cases: [name: string, text: string, code: string][] = [
      ['no GraphQL', 'hello', 'PARSE_FAILED'],
      ['empty', '', 'PARSE_FAILED'],
      ['an unknown field', '{ nothing }', 'VALIDATION_FAILED'],
      ['a subscription', 'subscription { task { id } }', 'VALIDATION_FAILED'],
      [
        '5000 aliases',
        `{ ${Array.from({ length: 5000 }, (_, at) => `a${at}: task { id }`).join(' ')} }`,
        'PARSE_FAILED',
      ],
      [
        '31 aliases',
        `{ task { ${Array.from({ length: 31 }, (_, at) => `a${at}: id`).join(' ')} } }`,
        'COMPLEXITY_LIMIT_EXCEEDED',
      ],
      ['3000 levels', levels(3000), 'PARSE_FAILED'],
      ['1600 levels', levels(1600), 'DEPTH_LIMIT_EXCEEDED'],
      [
        '2400 lists in lists',
        `{ tasks(filter: { and: ${'['.repeat(2400)}${']'.repeat(2400)} }) { nodes { id } } }`,
        'PARSE_FAILED',
      ],
      [
        '1100 objects in objects',
        `{ tasks(filter: ${'{and:'.repeat(1100)}{}${'}'.repeat(1100)}) { nodes { id } } }`,
        'PARSE_FAILED',
      ],
      [
        '65 objects in objects',
        `{ tasks(filter: ${'{and:'.repeat(64)}{}${'}'.repeat(64)}) { nodes { id } } }`,
        'PARSE_FAILED',
      ],
      ['a MiB of directives', `{ task ${'@skip(if: true) '.repeat(65_536)} { id } }`, 'PARSE_FAILED'],
      ['51 directives', `{ task ${'@skip(if: true) '.repeat(51)} { id } }`, 'COMPLEXITY_LIMIT_EXCEEDED'],
      ['a repeated field', `{ task { ${'id '.repeat(4900)} } }`, 'COMPLEXITY_LIMIT_EXCEEDED'],
      [
        'a fragment cycle',
        '{ task { ...A } } fragment A on Task { project { ...B } } fragment B on Task { project { ...A } }',
        'VALIDATION_FAILED',
      ],
      [
        'fragments that compare with each other',
        `{ task { ${Array.from({ length: 300 }, (_, at) => `...F${at}`).join(' ')} } } ${Array.from({ length: 300 }, (_, at) => `fragment F${at} on Task { id title }`).join(' ')}`,
        'COMPLEXITY_LIMIT_EXCEEDED',
      ],
    ];
    for (const [name, text, code] of cases) {
      const refused = refusal(text);
      assert.equal(refused.code, code, name);
      assert.doesNotMatch(refused.message, /stack|RangeError|undefined/, name);
    }
  });

  it('with a long name are refused without repeating it', () => {
    const name = 'a'.repeat(10_000);
    for (const text of [`{ ${name} }`, `query ($${name}: Int!) { task { id } }`, `{ task { id } } ${name}`])
      assert.ok(refusal(text).message.length < 1_000);
  });
});
