import { LIMITS } from '@wts/contracts';
import assert from 'node:assert/strict';
import { Admission } from './admission.ts';

const watch = (): { running: number; queued: number; refused: number; admission: (slots: number) => Admission } => {
  const seen = { running: 0, queued: 0, refused: 0 };
  return Object.assign(seen, {
    admission: (slots: number) =>
      new Admission(slots, {
        onRunning: (count) => (seen.running = count),
        onQueued: (count) => (seen.queued = count),
        onRefused: () => (seen.refused += 1),
      }),
  });
};
const never = new AbortController().signal;

describe('admission', () => {
  it('lets so many in, the rest wait in order, and a place that is given back twice is one place', async () => {
    const seen = watch();
    const admission = seen.admission(2);
    const [first] = [await admission.enter(never), await admission.enter(never)];
    const order: number[] = [];
    const third = admission.enter(never).then((place) => (order.push(3), place));
    const fourth = admission.enter(never).then((place) => (order.push(4), place));
    assert.equal(admission.isBusy, true);
    assert.equal(seen.queued, 2);
    first?.[Symbol.dispose]();
    first?.[Symbol.dispose]();
    const place = await third;
    assert.deepEqual(order, [3]);
    assert.equal(seen.running, 2);
    place[Symbol.dispose]();
    (await fourth)[Symbol.dispose]();
    assert.deepEqual(order, [3, 4]);
    assert.equal(seen.running, 1);
    assert.equal(seen.queued, 0);
  });

  it('sends those past the queue away, each to come back at a moment of its own [never.unbounded]', async () => {
    const seen = watch();
    const admission = seen.admission(1);
    using _place = await admission.enter(never);
    const waiting = new AbortController();
    const queue = Array.from({ length: LIMITS.snapshotQueueMax }, () => admission.enter(waiting.signal));
    await assert.rejects(admission.enter(never), (error: { code: string; retryAfterSeconds: number }) => {
      assert.equal(error.code, 'unavailable');
      return error.retryAfterSeconds >= 1 && error.retryAfterSeconds <= 5;
    });
    assert.equal(seen.refused, 1);
    waiting.abort(new Error('gone'));
    for (const one of await Promise.allSettled(queue)) assert.equal(one.status, 'rejected');
    assert.equal(seen.queued, 0);
  });

  it('keeps no place for one who left while waiting', async () => {
    const seen = watch();
    const admission = seen.admission(1);
    const place = await admission.enter(never);
    const leaving = new AbortController();
    const left = admission.enter(leaving.signal);
    leaving.abort(new Error('gone'));
    await assert.rejects(left, { message: 'gone' });
    place[Symbol.dispose]();
    assert.equal(admission.isBusy, false);
    await assert.rejects(admission.enter(leaving.signal));
    assert.equal(seen.running, 0);
  });
});
