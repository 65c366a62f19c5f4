import { Fault } from '@wts/contracts';
import { Task } from '@wts/models';
import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { filterSql, type Filter } from './filter.ts';
import { StatementWriter } from './statement.ts';

const groups = { groups: new Set([randomUUID()]), gains: new Map(), at: 1n, floor: 0n, epoch: randomUUID() };
const writer = (): StatementWriter =>
  new StatementWriter({ userId: randomUUID(), workspaceId: null, person: groups, isLive: false });
const write = (filter: Filter): string => filterSql(Task, filter, { alias: 't', sql: writer() });

const nested = (depth: number): Filter => (depth === 0 ? { title: { eq: 'x' } } : { and: [nested(depth - 1)] });

describe('a filter', () => {
  it('has its values in parameters only', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: ANY_CHARACTER }),
        fc.constantFrom('eq', 'contains', 'startsWith'),
        (text, operator) => {
          const plain = write({ title: { [operator]: 'x' }, project: { name: { [operator]: 'x' } } });
          try {
            assert.equal(write({ title: { [operator]: text }, project: { name: { [operator]: text } } }), plain);
          } catch (error) {
            assert.ok(error instanceof Fault && (text.includes('\0') || !text.isWellFormed()));
          }
        },
      ),
    ));

  it('has at most 50 conditions, 5 levels and 100 values in a list [graphql.filter.bounds]', () => {
    const many = (count: number): Filter => ({ or: Array.from({ length: count }, () => ({ priority: { eq: 1 } })) });
    write(many(50));
    assert.throws(() => write(many(51)), Fault);
    assert.throws(() => write({ and: [many(30), many(30)] }), Fault);
    assert.throws(() => write({ or: Array.from({ length: 100_000 }, () => ({})) }), Fault);
    write(nested(4));
    assert.throws(() => write(nested(5)), Fault);
    const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
    write({ projectId: { in: ids(100) } });
    assert.throws(() => write({ projectId: { in: ids(101) } }), Fault);
    assert.throws(() => write({ labelIds: { hasAny: ids(101) } }), Fault);
  });

  it('compares ids with ids, and texts with text that PostgreSQL can take', () => {
    for (const id of ['', 'x', `${randomUUID()}'`]) assert.throws(() => write({ projectId: { eq: id } }), Fault);
    for (const title of ['a\0', '\udfff', 'x'.repeat(1001)])
      assert.throws(() => write({ title: { eq: title } }), Fault);
    write({ projectId: { eq: randomUUID().toUpperCase() } });
  });

  it('without conditions is true, and no alternative is false', () => {
    for (const filter of [{}, { and: [] }, { title: {} }, { title: null }, { project: null, labels: {} }])
      assert.match(write(filter), /^true$/);
    assert.equal(write({ or: [] }), 'false');
  });

  it('on other records has the predicate of visibility at every level [graphql.filter.no-oracle]', () => {
    const filter = {
      project: { tasks: { every: { labels: { none: { name: { eq: 'x' } } } } } },
      comments: { some: {} },
    };
    const text = write(filter);
    assert.equal(text.match(/exists \(/g)?.length, 4);
    assert.equal(text.match(/group_id = any\(\$2/g)?.length, 4);
  });
});
