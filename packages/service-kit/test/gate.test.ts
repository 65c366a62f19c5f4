import assert from 'node:assert/strict';
import { Gate } from '../src/index.ts';

describe('a gate', () => {
  it('lets a bounded number through at once, in the order they came [never.unbounded]', async () => {
    const gate = new Gate(2);
    let running = 0;
    let most = 0;
    const done: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        gate.run(async () => {
          most = Math.max(most, (running += 1));
          await new Promise(setImmediate);
          running -= 1;
          done.push(index);
        }),
      ),
    );
    assert.equal(most, 2);
    assert.deepEqual(
      done,
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  it('goes on after a task that failed', async () => {
    const gate = new Gate(1);
    await assert.rejects(
      gate.run(() => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await gate.run(async () => 'yes'), 'yes');
  });
});
