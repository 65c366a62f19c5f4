import assert from 'node:assert/strict';
import { StatementNames } from './statement-names.ts';
import { GRAPH_LIMITS } from '../limits.ts';

describe('the names of prepared statements', () => {
  const nameOf = (names: StatementNames, text: string): (string | undefined)[] =>
    [1, 2, 3, 4].map(() => names.nameOf(text));

  it('are given to texts that are seen several times', () => {
    const names = new StatementNames();
    assert.deepEqual(nameOf(names, 'select 1'), [undefined, undefined, 'graph_0_0', 'graph_0_0']);
    assert.deepEqual(nameOf(names, 'select 2'), [undefined, undefined, 'graph_0_1', 'graph_0_1']);
    assert.equal(names.nameOf('select 1'), 'graph_0_0');
  });

  it('are not given to very long texts', () => {
    const names = new StatementNames();
    assert.equal(nameOf(names, 'x'.repeat(32_768)).at(-1), 'graph_0_0');
    assert.deepEqual(new Set(nameOf(names, 'x'.repeat(32_769))), new Set([undefined]));
  });

  it('begin again with new connections when there are too many', () => {
    const names = new StatementNames();
    const connection = {};
    assert.ok(names.isCurrent(connection));
    for (let at = 0; at < GRAPH_LIMITS.preparedMax; at += 1) nameOf(names, `select ${at}`);
    assert.ok(names.isCurrent(connection));
    assert.equal(nameOf(names, 'one more').at(-1), 'graph_1_0');
    assert.ok(!names.isCurrent(connection));
  });
});
