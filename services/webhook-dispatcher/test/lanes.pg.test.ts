import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import type { AttemptError, AttemptResult, SendAttempt } from '../src/domain/attempt.ts';
import { LaneSystem } from './lane-system.ts';

describe('the lane of an endpoint', () => {
  let system: LaneSystem;
  before(async () => (system = await LaneSystem.open('lanes')));
  after(() => system[Symbol.asyncDispose]());

  it('makes first attempts one after the other, ascending, whatever fails [webhooks.order.commit]', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(`${consumer.url}/hook`);
    let underWay = 0;
    let underWayMax = 0;
    const firsts: string[] = [];
    const seen = new Set<string>();
    await using lanes = system.lanes({
      send: async ({ eventId }) => {
        const isFirst = !seen.has(eventId);
        seen.add(eventId);
        if (isFirst) {
          firsts.push(eventId);
          underWay += 1;
          underWayMax = Math.max(underWay, underWayMax);
        }
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 6));
        if (isFirst) underWay -= 1;
        const error = Math.random() < 0.4 ? 'http_status' : null;
        return { startedAt: new Date(), durationMs: 1, statusCode: 200, error, snippet: null, retryAfterMs: null };
      },
    });
    const events = await system.enqueue(id, 60);
    lanes.wake([id]);
    await eventually(() => firsts.length >= 60);
    events.push(...(await system.enqueue(id, 60)));
    lanes.wake([id]);
    const all = await eventually(async () => {
      const found = await system.deliveries(id);
      return found.every(({ status }) => status !== 'pending') ? found : null;
    });
    assert.equal(underWayMax, 1);
    assert.deepEqual(firsts, events);
    assert.ok(all.some(({ attemptCount }) => attemptCount > 1));
    assert.deepEqual(
      (await system.attempts(id)).length,
      all.reduce((sum, one) => sum + one.attemptCount, 0),
    );
  });

  it('sends eight attempts with one id and one body, then the delivery has failed [webhooks.retry.eight-attempts] [limits.webhook.attempts]', async () => {
    const consumer = await system.receiver();
    consumer.answer({ status: 500 });
    const id = await system.endpoint(`${consumer.url}/hook`);
    await using lanes = system.lanes();
    const [eventId] = await system.enqueue(id);
    lanes.wake([id]);
    const [delivery] = await system.untilAll(id, 'failed');
    assert.equal(delivery?.attemptCount, 8);
    assert.equal(delivery.lastError, 'http_status');
    assert.equal(delivery.lastStatusCode, 500);
    assert.equal(consumer.received.length, 8);
    assert.deepEqual([...new Set(consumer.received.map(({ headers }) => headers['webhook-id']))], [eventId]);
    assert.equal(new Set(consumer.received.map(({ body }) => body)).size, 1);
    const gaps = consumer.received.slice(1).map(({ at }, index) => at - (consumer.received[index]?.at ?? 0));
    for (const [index, stepMs] of [50, 60, 70, 80, 90, 100, 110].entries())
      assert.ok((gaps[index] ?? 0) >= stepMs - 1, `gap ${index} of ${gaps[index]} ms`);
  });

  it('are held up to a bound, and the others served when there is room', async () => {
    const consumer = await system.receiver();
    consumer.answer({ status: 200, afterMs: 100 });
    const ids = await Promise.all([1, 2, 3].map(() => system.endpoint(consumer.url)));
    await using lanes = system.lanes({ limits: { lanesMax: 1, laneIdleMs: 100, pollMs: 50 } });
    for (const id of ids) await system.enqueue(id);
    let held = 0;
    for (const id of ids) lanes.wake([id]);
    await eventually(async () => {
      const { active, idle } = lanes.gauges.lanes();
      held = Math.max(held, active + idle);
      return consumer.received.length === 3;
    });
    assert.equal(held, 1);
    for (const id of ids) await system.untilAll(id, 'succeeded');
  });

  describe('when PostgreSQL refuses an outcome', () => {
    const answer = (error: AttemptError | null, more: Partial<AttemptResult> = {}): AttemptResult => ({
      startedAt: new Date(),
      durationMs: 1,
      statusCode: 500,
      error,
      snippet: null,
      retryAfterMs: null,
      ...more,
    });

    it('goes on with a snippet that cannot be stored left out', async () => {
      const id = await system.endpoint('https://consumer.test/');
      let attempts = 0;
      const send: SendAttempt = async () => {
        attempts += 1;
        return attempts === 1 ? answer('http_status', { snippet: 'a\u0000b' }) : answer(null, { statusCode: 200 });
      };
      await using lanes = system.lanes({ send });
      await system.enqueue(id);
      lanes.wake([id]);
      await system.untilAll(id, 'succeeded');
      assert.deepEqual(
        (await system.attempts(id)).map(({ error }) => error),
        ['invalid_response', null],
      );
    });

    it('attempts the delivery again, and the others once and in order', async () => {
      const id = await system.endpoint('https://consumer.test/');
      const sent: string[] = [];
      const send: SendAttempt = async ({ eventId }) => {
        sent.push(eventId);
        // No status code is so large.
        return answer(null, { statusCode: sent.length === 1 ? 70_000 : 200 });
      };
      await using lanes = system.lanes({ send });
      const [first = '', ...others] = await system.enqueue(id, 60);
      lanes.wake([id]);
      await system.untilAll(id, 'succeeded');
      assert.equal(sent.filter((eventId) => eventId === first).length, 2);
      assert.deepEqual(
        sent.filter((eventId) => eventId !== first),
        others,
      );
    });

    it('keeps it while the disk is full, and begins no attempt of it again', async () => {
      const id = await system.endpoint('https://consumer.test/');
      let attempts = 0;
      const send: SendAttempt = async () => {
        attempts += 1;
        return answer(null, { statusCode: 200 });
      };
      await system.enqueue(id, 3);
      const onUpdate = (then: string) =>
        system.db.admin.query(`create or replace function webhooks.on_update() returns trigger language plpgsql as
          $$ begin ${then}; end $$`);
      await onUpdate(`raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'`);
      await system.db.admin.query(
        `create trigger on_update before update on webhooks.deliveries for each row execute function webhooks.on_update()`,
      );
      await using lanes = system.lanes({ send, limits: { outcomeRetryMs: 20 } });
      lanes.wake([id]);
      await eventually(() => lanes.gauges.unrecordedOutcomes() === 3);
      await onUpdate('return new');
      await system.untilAll(id, 'succeeded');
      assert.equal(attempts, 3);
    });

    it('records it when it only waited for the default partition', async () => {
      const id = await system.endpoint('https://consumer.test/');
      await using lanes = system.lanes({ send: async () => answer(null, { statusCode: 200 }) });
      await system.enqueue(id);
      const client = await system.db.admin.connect();
      try {
        const day = new Date().toISOString().slice(0, 10);
        await client.query(`begin; lock table webhooks.attempts_default in access exclusive mode;
          create table webhooks.attempts_new (like webhooks.attempts including all);
          alter table webhooks.attempts_new owner to wts_webhooks;
          with caught as (delete from webhooks.attempts_default returning *) insert into webhooks.attempts_new select * from caught;
          alter table webhooks.attempts attach partition webhooks.attempts_new
            for values from ('${day} 00:00:00+00') to ('${day} 24:00:00+00')`);
        lanes.wake([id]);
        await eventually(async () => {
          const { rows } = await system.db.admin.query(`select from pg_locks where not granted
            and relation = 'webhooks.attempts_default'::regclass`);
          return rows.length > 0;
        });
        await client.query('commit');
      } finally {
        client.release();
      }
      await system.untilAll(id, 'succeeded');
      assert.equal((await system.attempts(id)).length, 1);
    });
  });
});
