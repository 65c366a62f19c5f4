import assert from 'node:assert/strict';
import { Backoff } from './backoff.ts';

describe('the restart of a container', () => {
  it('comes at once, then later and later up to five minutes, and at once again after ten minutes without one', () => {
    const backoff = new Backoff();
    let nowMs = 1_000_000;
    const waits = Array.from({ length: 8 }, () => {
      const waitMs = backoff.next(nowMs);
      nowMs += waitMs + 50;
      return waitMs / 1000;
    });
    assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
    assert.equal(backoff.next(nowMs + 599_000), 300_000);
    assert.equal(backoff.next(nowMs + 900_000 + 600_000), 0);
  });
});
