import assert from 'node:assert/strict';
import { parse } from 'graphql';
import { refusalOf } from './structure.ts';

const codeOf = (text: string): unknown => refusalOf(parse(text))?.extensions.code ?? null;
const nested = (levels: number): string => `{${'a{'.repeat(levels - 1)}a${'}'.repeat(levels - 1)}}`;

describe('the shape of an operation', () => {
  it('has at most 10 levels, where a field of the operation is level 1 [graphql.limit.depth]', () => {
    assert.equal(codeOf(nested(10)), null);
    assert.equal(codeOf(nested(11)), 'DEPTH_LIMIT_EXCEEDED');
    assert.equal(refusalOf(parse(nested(11)))?.extensions['depth'], 11);
    assert.equal(codeOf(`query b ${nested(2)} query c ${nested(11)}`), 'DEPTH_LIMIT_EXCEEDED');
  });

  it('counts levels through fragments [graphql.limit.depth]', () => {
    const within = `{a{...F}} fragment F on T ${nested(9)}`;
    assert.equal(codeOf(within), null);
    assert.equal(codeOf(`{a{...F}} fragment F on T ${nested(10)}`), 'DEPTH_LIMIT_EXCEEDED');
    assert.equal(codeOf(`{a{...on T{...on T ${nested(9)}}}}`), null);
    assert.equal(
      codeOf(`{a{...on T{...F}}} fragment F on T {...G} fragment G on T ${nested(10)}`),
      'DEPTH_LIMIT_EXCEEDED',
    );
  });

  it('ends with fragments in cycles, and without unknown ones', () => {
    assert.equal(codeOf('{...F} fragment F on T {a{...G}} fragment G on T {a{...F}}'), null);
    assert.equal(codeOf('{...F}'), null);
  });

  it('reads each fragment once, however often it is spread', () => {
    const fragments = Array.from({ length: 30 }, (_, at) => `fragment F${at} on T { ...F${at + 1} ...F${at + 1} }`);
    assert.equal(codeOf(`{...F0} ${fragments.join(' ')} fragment F30 on T {a}`), null);
  });

  it('exempts introspection from the levels', () => {
    assert.equal(codeOf(`{__schema ${nested(14)}}`), null);
    assert.equal(codeOf(`{a{__schemas ${nested(14)}}}`), 'DEPTH_LIMIT_EXCEEDED');
  });

  it('has at most 20 fields at the first level of a query, and 10 of a mutation, through fragments [graphql.limit.shape]', () => {
    const fields = (count: number): string => Array.from({ length: count }, (_, at) => `f${at}`).join(' ');
    assert.equal(codeOf(`{${fields(20)}}`), null);
    assert.equal(codeOf(`{${fields(21)}}`), 'COMPLEXITY_LIMIT_EXCEEDED');
    assert.equal(codeOf(`mutation {${fields(10)}}`), null);
    assert.equal(
      codeOf(`mutation {${fields(6)} ...F} fragment F on T {g ...on T {${fields(4)}}}`),
      'COMPLEXITY_LIMIT_EXCEEDED',
    );
  });

  it('has at most 100 fields that change one record each, whose aliases are not counted [graphql.limit.shape]', () => {
    const changes = (count: number, name = 'taskUpdate'): string =>
      Array.from({ length: count }, (_, at) => `t${at}: ${name} { a: b }`).join(' ');
    const many = 'mutation {';
    // The aliases inside are counted.
    const bare = changes(100).replaceAll('a: b', 'b');
    assert.equal(codeOf(`${many} ${bare} }`), null);
    assert.equal(codeOf(`${many} ${bare} ... on Mutation { t100: taskCreate { b } } }`), 'COMPLEXITY_LIMIT_EXCEEDED');
    assert.equal(
      codeOf(`${many} ${bare} ...F } fragment F on Mutation { taskCreate { b } }`),
      'COMPLEXITY_LIMIT_EXCEEDED',
    );
    assert.equal(codeOf(`${many} ${changes(30)} }`), null);
    assert.equal(codeOf(`${many} ${changes(31)} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
    // Batches, and what the workspace service does, are not among them.
    for (const name of ['taskBatchUpdate', 'workspaceJoin', 'apiKeyCreate'])
      assert.equal(codeOf(`${many} ${changes(11, name).replaceAll('a: b', 'b')} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
    // In a query, the names have no meaning.
    assert.equal(codeOf(`{ ${changes(21)} }`), 'COMPLEXITY_LIMIT_EXCEEDED');
    assert.equal(codeOf(`{ a { ${bare} } }`), 'COMPLEXITY_LIMIT_EXCEEDED');
  });

  it('has at most 30 aliases and 50 directives in all its fragments [graphql.limit.shape]', () => {
    const aliases = (count: number): string => Array.from({ length: count }, (_, at) => `a${at}: b`).join(' ');
    assert.equal(codeOf(`{c{${aliases(15)} ...F}} fragment F on T {d{${aliases(15)}}}`), null);
    assert.equal(codeOf(`{c{${aliases(15)} ...F}} fragment F on T {d{${aliases(16)}}}`), 'COMPLEXITY_LIMIT_EXCEEDED');
    const directives = (count: number): string => '@d '.repeat(count);
    assert.equal(
      codeOf(
        `query($v: Int ${directives(10)}) ${directives(10)} {a ${directives(10)} ...F ${directives(10)}} fragment F on T ${directives(10)} {a}`,
      ),
      null,
    );
    assert.equal(
      codeOf(
        `query($v: Int ${directives(10)}) ${directives(10)} {a ${directives(10)} ...F ${directives(10)}} fragment F on T ${directives(11)} {a}`,
      ),
      'COMPLEXITY_LIMIT_EXCEEDED',
    );
  });
});
