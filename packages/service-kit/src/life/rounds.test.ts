import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { startRounds } from './rounds.ts';

const HOUR_MS = 3_600_000;

describe('rounds', () => {
  it('follow each other, also after one that failed', async () => {
    const failures: unknown[] = [];
    let count = 0;
    await using _rounds = startRounds({
      round: async () => {
        count += 1;
        if (count === 2) throw new Error('the second');
      },
      everyMs: 1,
      onFailure: (error) => failures.push(error),
    });
    await eventually(() => count >= 4);
    assert.deepEqual(failures, [new Error('the second')]);
  });

  it('begin early when they are woken, also during one', async () => {
    let count = 0;
    const inProgress = Promise.withResolvers<void>();
    await using rounds = startRounds({
      round: () => (++count === 2 ? inProgress.promise : Promise.resolve()),
      everyMs: HOUR_MS,
      onFailure: assert.ifError,
    });
    await eventually(() => {
      rounds.wake();
      return count === 2;
    });
    rounds.wake();
    inProgress.resolve();
    await eventually(() => count === 3);
  });

  it('end with the one in progress, whose failure is not reported', async () => {
    const failures: unknown[] = [];
    const inProgress = Promise.withResolvers<void>();
    let signalOfRound: AbortSignal | undefined;
    const rounds = startRounds({
      round: (signal) => {
        signalOfRound = signal;
        return inProgress.promise;
      },
      everyMs: HOUR_MS,
      onFailure: (error) => failures.push(error),
    });
    let isDisposed = false;
    const disposing = rounds[Symbol.asyncDispose]().then(() => (isDisposed = true));
    assert.equal(signalOfRound?.aborted, true);
    await new Promise(setImmediate);
    assert.equal(isDisposed, false);
    inProgress.reject(new Error('interrupted'));
    await disposing;
    assert.deepEqual(failures, []);
  });
});
