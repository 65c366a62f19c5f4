import assert from 'node:assert/strict';
import { DISPATCH } from '../limits.ts';
import { RetryTimer } from './retry-timer.ts';

describe('the timer of retries', () => {
  /** After how long the timer ends for a retry that is due then. */
  function endsAfter(dueInMs: number): number {
    const { setTimeout: original } = globalThis;
    let waitMs = Number.NaN;
    globalThis.setTimeout = ((onTime: () => void, ms: number) => {
      waitMs = ms;
      return original(onTime, ms);
    }) as typeof original;
    const timer = new RetryTimer(() => undefined);
    try {
      timer.set(performance.now() + dueInMs);
    } finally {
      globalThis.setTimeout = original;
      timer.close();
    }
    return waitMs;
  }

  it('does not keep a lane that only waits from going back', () =>
    assert.ok(endsAfter(10 * 3_600_000) > DISPATCH.laneIdleMs * 2));

  it('never waits too long for a timer', () => assert.ok(endsAfter(60 * 24 * 3_600_000) < 2 ** 31));
});
