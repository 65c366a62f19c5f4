import { LIMITS } from '@wts/contracts';
import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { setTimeout as sleep } from 'node:timers/promises';
import { dropOld } from '../src/store/partitions.ts';
import { LaneSystem } from './lane-system.ts';

describe('an endpoint that is switched off', () => {
  let system: LaneSystem;
  before(async () => (system = await LaneSystem.open('disabled')));
  after(() => system[Symbol.asyncDispose]());

  const isGone = async (id: string): Promise<boolean> => {
    const { enabled, disabledReason } = await system.state(id);
    return !enabled && disabledReason === 'gone';
  };

  it('was gone at a first attempt, and nothing is sent after the 410 [webhooks.disable.gone]', async () => {
    const { id, consumer } = await system.made();
    consumer.answer({ status: 410 });
    await system.enqueue(id, 30);
    await using lanes = system.lanes();
    lanes.wake([id]);
    await eventually(() => isGone(id));
    await sleep(400);
    assert.equal(consumer.received.length, 1);
    const all = await system.deliveries(id);
    assert.ok(all.every(({ status }) => status === 'pending'));
    assert.deepEqual([all[0]?.attemptCount, all[1]?.attemptCount], [1, 0]);
    const { disabledAt, updatedAt } = await system.state(id);
    assert.ok(updatedAt >= (disabledAt ?? 0), 'it was changed when it was switched off');
  });

  it('was gone at a retry [webhooks.disable.gone]', async () => {
    const { id, consumer } = await system.made();
    consumer.answer(() => ({ status: consumer.received.length === 1 ? 500 : 410 }));
    await using lanes = system.lanes();
    await system.enqueue(id);
    lanes.wake([id]);
    await eventually(() => isGone(id));
    await sleep(200);
    assert.equal(consumer.received.length, 2);
  });

  it('was gone at an attempt that was asked for by hand [webhooks.disable.gone]', async () => {
    const { id, consumer } = await system.made();
    await using lanes = system.lanes();
    await system.enqueue(id);
    lanes.wake([id]);
    const [done] = await system.untilAll(id, 'succeeded');
    consumer.answer({ status: 410 });
    await system.retry(id, done?.id ?? '');
    lanes.change([id]);
    await eventually(() => isGone(id));
    assert.equal((await system.deliveries(id))[0]?.status, 'failed');
  });

  it('is not, when the 410 comes from an address that it no longer has [webhooks.disable.gone]', async () => {
    const { id, consumer } = await system.made();
    const other = await system.receiver();
    consumer.answer({ status: 410, afterMs: 300 });
    await using lanes = system.lanes();
    await system.enqueue(id);
    lanes.wake([id]);
    await consumer.until((all) => all.length === 1);
    await system.pool.query('update webhooks.endpoints set url = $2 where id = $1', [id, other.url]);
    await system.untilAll(id, 'succeeded');
    assert.equal((await system.state(id)).enabled, true);
    assert.equal(other.received.length, 1);
  });

  it('has failed for the set time, in eight attempts at least [webhooks.disable.three-days]', async () => {
    const { id, consumer } = await system.made();
    consumer.answer('reset');
    await using lanes = system.lanes({ disableAfterMs: 700 });
    const isOffAfterOneMore = async (): Promise<boolean> => {
      await system.enqueue(id);
      lanes.wake([id]);
      return !(await system.state(id)).enabled;
    };
    await eventually(isOffAfterOneMore, { everyMs: 100 });
    const state = await system.state(id);
    assert.equal(state.disabledReason, 'consecutive_failures');
    assert.ok((state.disabledAt?.getTime() ?? 0) - (state.failingSince?.getTime() ?? 0) >= 700);
    assert.ok(state.consecutiveFailures >= 8);
  });

  it('is not, while a success comes in between [webhooks.disable.three-days]', async () => {
    const { id, consumer } = await system.made();
    let count = 0;
    consumer.answer(() => ({ status: (count += 1) % 7 === 0 ? 200 : 500 }));
    await using lanes = system.lanes({ disableAfterMs: 150 });
    await system.enqueue(id, 12);
    lanes.wake([id]);
    await eventually(async () => (await system.deliveries(id)).every(({ status }) => status !== 'pending'));
    assert.equal((await system.state(id)).enabled, true);
  });

  it('is on again when an attempt that was under way succeeds [webhooks.disable.three-days]', async () => {
    const { id, consumer } = await system.made();
    const hooks = await system.enqueue(id, 4);
    const isOff = Promise.withResolvers<void>();
    let others = 500;
    // The last event is under way while the retries of the others switch the endpoint off.
    consumer.answer(({ headers }) =>
      headers['webhook-id'] === hooks[3] ? isOff.promise.then(() => ({ status: 200 })) : { status: others },
    );
    await using lanes = system.lanes({ disableAfterMs: 400 });
    lanes.wake([id]);
    await eventually(async () => (await system.state(id)).disabledReason === 'consecutive_failures');
    // Their retries go on as soon as it is on again.
    others = 200;
    isOff.resolve();
    const on = await eventually(async () => {
      const state = await system.state(id);
      return state.enabled ? state : null;
    });
    assert.deepEqual([on.disabledReason, on.disabledAt, on.consecutiveFailures], [null, null, 0]);
    assert.equal((await system.deliveries(id))[3]?.status, 'succeeded');
  });

  it('stays off, and keeps its failures, when an address that it no longer has answers [webhooks.disable.three-days]', async () => {
    const { id, consumer } = await system.made();
    const other = await system.receiver();
    consumer.answer({ status: 200, afterMs: 400 });
    await using lanes = system.lanes();
    await system.enqueue(id);
    lanes.wake([id]);
    await consumer.until((all) => all.length === 1);
    await system.pool.query(
      `update webhooks.endpoints set url = $2, enabled = false, disabled_at = clock_timestamp(), consecutive_failures = 9,
        failing_since = now(), last_failure_at = now(), disabled_reason = 'consecutive_failures' where id = $1`,
      [id, other.url],
    );
    await system.untilAll(id, 'succeeded');
    const { enabled, disabledReason, hasSucceeded, consecutiveFailures } = await system.state(id);
    assert.deepEqual(
      { enabled, disabledReason, hasSucceeded, consecutiveFailures },
      { enabled: false, disabledReason: 'consecutive_failures', hasSucceeded: false, consecutiveFailures: 9 },
    );
  });

  it('gets no attempt until it is on again; then everything, with retries paced', async () => {
    const { id, consumer } = await system.made();
    consumer.answer({ status: 500 });
    await using lanes = system.lanes({ schedule: '200ms,1h,1h,1h,1h,1h,1h', limits: { retryPaceMs: 50 } });
    await system.enqueue(id, 20);
    lanes.wake([id]);
    await eventually(async () => (await system.deliveries(id)).every(({ attemptCount }) => attemptCount >= 1));
    await system.setEnabled(id, false);
    lanes.change([id]);
    await sleep(100);
    const { length } = consumer.received;
    await sleep(600);
    assert.equal(consumer.received.length, length);
    assert.ok((await system.deliveries(id)).every(({ status }) => status === 'pending'));

    consumer.answer({ status: 200 });
    await system.pool.query(`update webhooks.deliveries set scheduled_at = now() where endpoint_id = $1`, [id]);
    await system.setEnabled(id, true);
    lanes.change([id]);
    await system.untilAll(id, 'succeeded');
    const resumed = consumer.received.slice(length);
    assert.equal(resumed.length, 20);
    assert.ok((resumed.at(-1)?.at ?? 0) - (resumed[0]?.at ?? 0) >= 19 * 50 - 20, 'retries begin 50 ms apart');
  });

  it('gets the events from before in order when it is on again [webhooks.order.commit]', async () => {
    const { id, consumer } = await system.made();
    const events = await system.enqueue(id, 10);
    await system.setEnabled(id, false);
    // Lanes look for due deliveries when they begin, so before this they might attempt them.
    await using lanes = system.lanes();
    lanes.wake([id]);
    await sleep(300);
    assert.equal(consumer.received.length, 0);
    await system.setEnabled(id, true);
    await system.untilAll(id, 'succeeded');
    assert.deepEqual(
      consumer.received.map(({ headers }) => headers['webhook-id']),
      events,
    );
  });

  it('gets what was queued before it asked for other event types', async () => {
    const { id, consumer } = await system.made();
    const events = await system.enqueue(id, 3);
    await system.pool.query(`update webhooks.endpoints set event_types = '{comment.deleted}' where id = $1`, [id]);
    await using _ = system.lanes();
    await system.untilAll(id, 'succeeded');
    assert.deepEqual(
      consumer.received.map(({ headers }) => headers['webhook-id']),
      events,
    );
  });

  it('gets what waited, but nothing of an event older than 30 days', async () => {
    const { id, consumer } = await system.made();
    const [old, recent] = await system.enqueue(id, 2);
    await system.setEnabled(id, false);
    for (const [table, column, eventId] of [
      ['events', 'created_at', 'id'],
      ['deliveries', 'event_at', 'event_id'],
    ])
      await system.pool.query(
        `update webhooks.${table} set ${column} = ${column} - make_interval(days => $2) where ${eventId} = $1`,
        [old, LIMITS.deliveryDays + 1],
      );
    await dropOld(system.pool);
    await system.setEnabled(id, true);
    await using _ = system.lanes();
    const all = await system.untilAll(id, 'succeeded');
    assert.deepEqual(
      all.map(({ eventId }) => eventId),
      [recent],
    );
    assert.deepEqual(
      consumer.received.map(({ headers }) => headers['webhook-id']),
      [recent],
    );
  });

  it('is sent to its new address, and signed with its new secret, from the next attempt on', async () => {
    const { id, consumer } = await system.made();
    const other = await system.receiver();
    consumer.answer({ status: 500 });
    await using lanes = system.lanes({ schedule: '500ms,1h,1h,1h,1h,1h,1h' });
    const [eventId] = await system.enqueue(id);
    lanes.wake([id]);
    await eventually(async () => (await system.deliveries(id))[0]?.attemptCount === 1);
    await system.pool.query(
      `update webhooks.secrets set expires_at = now() + interval '1 day' where endpoint_id = $1`,
      [id],
    );
    const secret = await system.addSecret(id);
    await system.pool.query('update webhooks.endpoints set url = $2 where id = $1', [id, other.url]);
    await system.untilAll(id, 'succeeded');
    assert.equal(consumer.received.length, 1);
    const [retry] = other.received;
    assert.equal(retry?.headers['webhook-id'], eventId);
    const [current, before, ...more] = String(retry?.headers['x-secrets']).split(' ');
    assert.equal(current, secret.toString('hex'));
    assert.equal(before, consumer.received[0]?.headers['x-secrets']);
    assert.equal(more.length, 0);
  });

  it('is sent to its new address while events come, also when nothing announces the change', async () => {
    const { id, consumer } = await system.made();
    const other = await system.receiver();
    await using lanes = system.lanes({ limits: { settingsAgeMs: 100, pollMs: 60_000 } });
    const send = async (): Promise<void> => {
      await system.enqueue(id);
      lanes.wake([id]);
    };
    await send();
    await eventually(() => consumer.received.length === 1);
    await system.pool.query('update webhooks.endpoints set url = $2 where id = $1', [id, other.url]);
    await eventually(async () => {
      await send();
      return other.received.length > 0;
    });
    const { length } = consumer.received;
    await send();
    await system.untilAll(id, 'succeeded');
    assert.equal(consumer.received.length, length);
  });

  it('is attempted no more once it is deleted, and a late result brings nothing back', async () => {
    const { id, consumer } = await system.made();
    consumer.answer({ status: 200, afterMs: 400 });
    await using lanes = system.lanes();
    await system.enqueue(id, 10);
    lanes.wake([id]);
    await consumer.until((all) => all.length === 1);
    await system.pool.query('update webhooks.endpoints set deleted_at = now(), enabled = false where id = $1', [id]);
    for (const table of ['lanes', 'secrets', 'deliveries'])
      await system.pool.query(`delete from webhooks.${table} where endpoint_id = $1`, [id]);
    lanes.change([id]);
    await sleep(1_200);
    assert.equal(consumer.received.length, 1);
    assert.deepEqual(await system.deliveries(id), []);
    assert.deepEqual(await system.attempts(id), []);
  });
});
