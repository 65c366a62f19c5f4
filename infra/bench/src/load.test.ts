import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { closedLoop } from './load.ts';

describe('the closed loop', () => {
  it('counts the operations of all clients', async () => {
    let calls = 0;
    const startedMs = performance.now();
    const { perSecond } = await closedLoop(8, 0.05, async () => {
      await pause(1);
      calls += 1;
      return 2;
    });
    const seconds = (performance.now() - startedMs) / 1000;
    // Its own end is a little before this one.
    assert.ok(perSecond * seconds >= calls * 2, `${perSecond * seconds} of ${calls * 2} operations`);
  });
});
