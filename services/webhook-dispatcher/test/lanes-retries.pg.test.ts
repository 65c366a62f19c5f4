import assert from 'node:assert/strict';
import { eventually, type Receiver } from '@wts/testkit';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendAttempt } from '../src/domain/attempt.ts';
import { LaneSystem } from './lane-system.ts';

const idsOf = ({ received }: Receiver): unknown[] => received.map(({ headers }) => headers['webhook-id']);

describe('retries of an endpoint', () => {
  let system: LaneSystem;
  before(async () => (system = await LaneSystem.open('retries')));
  after(() => system[Symbol.asyncDispose]());

  it('run beside its lane: first attempts go on while a retry hangs [webhooks.order.slow-endpoint]', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    await using lanes = system.lanes();
    const [failing = ''] = await system.enqueue(id);
    let attempts = 0;
    consumer.answer(({ headers }) => {
      if (headers['webhook-id'] !== failing) return { status: 200 };
      attempts += 1;
      return attempts === 1 ? { status: 500 } : attempts === 2 ? { status: 200, afterMs: 700 } : { status: 500 };
    });
    lanes.wake([id]);
    await eventually(() => attempts === 2);
    const others = await system.enqueue(id, 5);
    lanes.wake([id]);
    await consumer.until((all) => all.length === 7);
    const [first] = await system.deliveries(id);
    assert.equal(first?.status, 'pending', 'the retry is still under way');
    assert.deepEqual(idsOf(consumer), [failing, failing, ...others]);
    await system.untilAll(id, 'succeeded');
  });

  it('never begin before their time, and are two at a time at most [webhooks.retry.schedule]', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    await using lanes = system.lanes({ schedule: '300ms,1h,1h,1h,1h,1h,1h' });
    const failedAt = new Map<unknown, number>();
    let underWay = 0;
    let underWayMax = 0;
    consumer.answer(({ headers, at }) => {
      const eventId = headers['webhook-id'];
      const before = failedAt.get(eventId);
      if (before === undefined) {
        failedAt.set(eventId, at);
        return { status: 503 };
      }
      assert.ok(at - before >= 300, `after ${at - before} ms`);
      underWay += 1;
      underWayMax = Math.max(underWayMax, underWay);
      setTimeout(() => (underWay -= 1), 39).unref();
      return { status: 204, afterMs: 40 };
    });
    await system.enqueue(id, 12);
    lanes.wake([id]);
    const all = await system.untilAll(id, 'succeeded');
    assert.ok(all.every(({ attemptCount }) => attemptCount === 2));
    assert.equal(underWayMax, 2);
  });

  it('wait for their turn with one timer, however many there are and whatever happens meanwhile', async () => {
    const id = await system.endpoint('https://consumer.test/');
    const attempted = new Set<string>();
    const send: SendAttempt = async ({ eventId }) => {
      const isFirst = !attempted.has(eventId);
      attempted.add(eventId);
      const error = isFirst ? ('http_status' as const) : null;
      return {
        startedAt: new Date(),
        durationMs: 0,
        statusCode: isFirst ? 503 : 204,
        error,
        snippet: null,
        retryAfterMs: null,
      };
    };
    await using lanes = system.lanes({ send, schedule: '300ms,1h,1h,1h,1h,1h,1h' });
    await system.enqueue(id, 50);
    const { setTimeout: original } = globalThis;
    let timers = 0;
    globalThis.setTimeout = ((...parameters: Parameters<typeof original>) => {
      if ((parameters[1] ?? 0) <= 20) timers += 1;
      return original(...parameters);
    }) as typeof original;
    try {
      lanes.wake([id]);
      await system.untilAll(id, 'succeeded');
    } finally {
      globalThis.setTimeout = original;
    }
    assert.ok(timers < 250, `${timers} timers for 50 retries`);
  });

  it('are found by another replica when the one before stopped [webhooks.retry.schedule]', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    consumer.answer({ status: 500 });
    {
      await using lanes = system.lanes({ schedule: '400ms,1h,1h,1h,1h,1h,1h' });
      await system.enqueue(id, 2);
      lanes.wake([id]);
      await eventually(async () => (await system.deliveries(id)).every(({ attemptCount }) => attemptCount === 1));
    }
    consumer.answer({ status: 200 });
    await using _ = system.lanes();
    const all = await system.untilAll(id, 'succeeded');
    assert.ok(all.every(({ attemptCount }) => attemptCount === 2));
  });

  it('asked for by hand: one more attempt of a failed, a succeeded or a waiting delivery', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    await using lanes = system.lanes();
    consumer.answer({ status: 500 });
    await system.enqueue(id);
    lanes.wake([id]);
    const [failed] = await system.untilAll(id, 'failed');
    const again = async (): Promise<void> => {
      await system.retry(id, failed?.id ?? '');
      lanes.change([id]);
    };
    await again();
    await eventually(async () => (await system.deliveries(id))[0]?.attemptCount === 9);
    const [ninth] = await system.untilAll(id, 'failed');
    assert.deepEqual([ninth?.scheduledAttempts, ninth?.isManual], [8, false]);
    consumer.answer({ status: 200 });
    await again();
    const [tenth] = await system.untilAll(id, 'succeeded');
    assert.equal(tenth?.attemptCount, 10);
    await again();
    await eventually(async () => (await system.deliveries(id))[0]?.attemptCount === 11);
    await system.untilAll(id, 'succeeded');
    assert.deepEqual(
      (await system.attempts(id)).map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    );
  });

  it('asked for by hand leave the schedule as it is', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    await using lanes = system.lanes({ schedule: '1h,1h,1h,1h,1h,1h,1h' });
    consumer.answer({ status: 500 });
    await system.enqueue(id);
    lanes.wake([id]);
    const [first] = await eventually(async () => {
      const all = await system.deliveries(id);
      return all[0]?.attemptCount === 1 ? all : null;
    });
    await system.retry(id, first?.id ?? '');
    lanes.change([id]);
    const [second] = await eventually(async () => {
      const all = await system.deliveries(id);
      return all[0]?.attemptCount === 2 ? all : null;
    });
    assert.deepEqual([second?.status, second?.scheduledAttempts, second?.isManual], ['pending', 1, false]);
    assert.ok(Math.abs((second?.scheduledInMs ?? 0) - (first?.scheduledInMs ?? 0)) < 60_000);
  });

  it('asked for twice while an attempt is under way are one more attempt, or none after a success', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    await using lanes = system.lanes({ schedule: '50ms,1h,1h,1h,1h,1h,1h' });
    let status = 500;
    consumer.answer(() => ({ status, afterMs: 250 }));
    await system.enqueue(id);
    lanes.wake([id]);
    await consumer.until((all) => all.length === 2);
    const [delivery] = await system.deliveries(id);
    await system.retry(id, delivery?.id ?? '');
    await system.retry(id, delivery?.id ?? '');
    lanes.change([id]);
    await consumer.until((all) => all.length === 3);
    status = 200;
    await system.retry(id, delivery?.id ?? '');
    lanes.change([id]);
    await consumer.until((all) => all.length === 4);
    await system.untilAll(id, 'succeeded');
    await sleep(300);
    assert.equal(consumer.received.length, 4);
    assert.equal((await system.attempts(id)).length, 4);
  });

  it('asked for are found without any announcement', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    await using lanes = system.lanes();
    await system.enqueue(id);
    lanes.wake([id]);
    const [done] = await system.untilAll(id, 'succeeded');
    await system.retry(id, done?.id ?? '');
    await consumer.until((all) => all.length === 2);
    await system.enqueue(id);
    await consumer.until((all) => all.length === 3);
  });
});
