import assert from 'node:assert/strict';
import { AGENT_LIMITS } from '../limits.ts';
import { ToolError } from '../tool-error.ts';
import type { Graph } from '../graph/graph.ts';
import { changeTasks } from './change-tasks.ts';
import { namesOfChanges } from '../graph/changes.ts';

describe('changes of a call', () => {
  it('have the names of what was asked, so that a part of a call may be repeated', () => {
    const [a, b] = [
      { title: 'a', labels: ['x', 'y'] },
      { title: 'b', project: 'web' },
    ];
    const names = (...asked: readonly object[]) => {
      const nameOf = namesOfChanges('create_tasks', 'key', asked);
      return asked.map((_, index) => nameOf(index));
    };
    const [ofA, ofB, ofSecondA] = names(a, b, a);
    assert.equal(new Set([ofA, ofB, ofSecondA]).size, 3);
    assert.deepEqual(names(a, b, a), [ofA, ofB, ofSecondA]);
    assert.deepEqual(names(b), [ofB]);
    assert.deepEqual(names({ project: 'web', title: 'b' }), [ofB]);
    assert.notEqual(names({ ...b, title: 'c' })[0], ofB);
    const key = 'k'.repeat(AGENT_LIMITS.idempotencyKeyCharsMax);
    const many = Array.from({ length: AGENT_LIMITS.batchMax }, () => a);
    assert.ok(namesOfChanges('create_project', key, many)(AGENT_LIMITS.batchMax - 1).length <= 128);
    assert.notEqual(namesOfChanges('x', undefined, [a])(0), namesOfChanges('x', undefined, [a])(0));
  });

  it('that are known are reported when the deadline passes, and the others as unknown', async () => {
    const count = AGENT_LIMITS.changesOfRequestMax;
    const changes = Array.from({ length: count + 1 }, (_, index) => ({ index, change: { input: {} } }));
    for (const [key, advice] of [
      [undefined, /check with find_tasks/],
      ['key', /with the same idempotencyKey/],
    ] as const) {
      const deadline = new AbortController();
      const graph = {
        caller: { signal: deadline.signal },
        run: async () => {
          deadline.signal.throwIfAborted();
          deadline.abort(new DOMException('', 'TimeoutError'));
          return Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, { task: {}, error: null }]));
        },
      } as unknown as Graph;
      const outcomes = [
        ...(await changeTasks(graph, 'taskCreate', changes, { nameOf: String, idempotencyKey: key })).values(),
      ];
      const last = outcomes.pop();
      assert.ok(outcomes.length === count && !outcomes.some((one) => one instanceof ToolError));
      assert.ok(last instanceof ToolError && advice.test(last.message), JSON.stringify(last));
    }
  });
});
