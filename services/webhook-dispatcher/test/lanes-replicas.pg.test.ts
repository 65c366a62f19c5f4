import { STREAM } from '@wts/contracts';
import assert from 'node:assert/strict';
import { openNats } from '@wts/service-kit/nats';
import { openPostgres } from '@wts/service-kit/postgres';
import { eventually, openWire, testNats, type Receiver } from '@wts/testkit';
import { setTimeout as sleep } from 'node:timers/promises';
import { announce, onAnnounced } from '../src/announcements.ts';
import { FAST, LaneSystem } from './lane-system.ts';
import { quiet } from './quiet.ts';
import { FATAL_STATUS } from './plain-sender.ts';
import { startReplica, type Replica } from './replica.ts';

const idsOf = ({ received }: Receiver): string[] => received.map(({ headers }) => String(headers['webhook-id']));
const isAscending = (ids: readonly string[], events: readonly string[]): void =>
  assert.deepEqual(
    [...new Set(ids)],
    events.filter((id) => ids.includes(id)),
    'first arrivals ascend',
  );

/** Of each endpoint: enough to be under way at each kill. */
const EVENTS = 50;

describe('replicas that serve lanes', () => {
  let system: LaneSystem;
  before(async () => (system = await LaneSystem.open('replicas')));
  after(() => system[Symbol.asyncDispose]());

  const start = (options: Partial<Parameters<typeof startReplica>[0]> = {}): Promise<Replica> =>
    startReplica({ databaseUrl: system.databaseUrl, ...options });

  it('serve a lane alone: of one that was suspended, a late success counts, and a late failure counts for nothing', async () => {
    const [good, bad] = [await system.made(), await system.made()];
    for (const [{ consumer }, status] of [
      [good, 200],
      [bad, 500],
    ] as const)
      consumer.answer(() => (consumer.received.length === 1 ? { status, afterMs: 5_000 } : { status: 500 }));
    await using suspended = await start();
    await system.enqueue(good.id);
    await system.enqueue(bad.id);
    for (const { consumer } of [good, bad]) await consumer.until((all) => all.length === 1);
    suspended.signal('SIGSTOP');
    await using other = await start();
    for (const { id } of [good, bad])
      await eventually(async () => (await system.deliveries(id))[0]?.attemptCount === 1);
    suspended.signal('SIGCONT');
    const [success] = await system.untilAll(good.id, 'succeeded');
    assert.equal(success?.attemptCount, 2);
    assert.equal((await system.state(good.id)).consecutiveFailures, 0);
    // The one that was suspended serves other lanes again, and not these.
    other.signal('SIGSTOP');
    const more = await system.made();
    await system.enqueue(more.id);
    await system.untilAll(more.id, 'succeeded');
    const [failure] = await system.deliveries(bad.id);
    assert.deepEqual([failure?.attemptCount, failure?.status], [1, 'pending']);
    assert.equal((await system.attempts(bad.id)).length, 1);
    assert.equal((await system.state(bad.id)).consecutiveFailures, 1);
  });

  it('lose nothing when one is killed between sending and recording [webhooks.repeat.same-id]', async () => {
    const { id, consumer } = await system.made();
    const { hostname, port } = new URL(system.databaseUrl);
    await using wire = await openWire({ host: hostname, port: Number(port) });
    consumer.answer(() => {
      wire.freeze();
      return { status: 200 };
    });
    const killed = await start({ databaseUrl: wire.through(system.databaseUrl) });
    const [eventId] = await system.enqueue(id);
    await consumer.until((all) => all.length === 1);
    assert.equal((await system.deliveries(id))[0]?.attemptCount, 0);
    killed.signal('SIGKILL');
    await killed.ended;
    await using _ = await start();
    const [delivery] = await system.untilAll(id, 'succeeded');
    assert.equal(delivery?.attemptCount, 1);
    assert.deepEqual(idsOf(consumer), [eventId, eventId]);
    assert.equal(consumer.received[0]?.body, consumer.received[1]?.body);
  });

  it('finish what is under way at SIGTERM, however long it takes, and nothing is sent twice', async () => {
    const { id, consumer } = await system.made();
    consumer.answer(() => (consumer.received.length === 1 ? { status: 200, afterMs: 3_000 } : { status: 200 }));
    const stopped = await start({ limits: { ...FAST, leaseMs: 1_000, attemptMs: 10_000 } });
    const events = await system.enqueue(id, 5);
    await consumer.until((all) => all.length === 1);
    await using _ = await start();
    stopped.signal('SIGTERM');
    assert.equal(await stopped.ended, 0);
    await system.untilAll(id, 'succeeded');
    assert.deepEqual(idsOf(consumer), events);
  });

  it('lose nothing and keep the order however often they are killed [webhooks.order.commit]', async () => {
    const endpoints = await Promise.all([system.made(), system.made()]);
    const events = await Promise.all(endpoints.map(({ id }) => system.enqueue(id, EVENTS)));
    for (const { consumer } of endpoints) consumer.answer({ status: 200, afterMs: 10 });
    let kills = 0;
    while (kills < 2) {
      const before = endpoints.map(({ consumer }) => consumer.received.length);
      const killed = await start();
      await eventually(() => endpoints.some(({ consumer }, at) => consumer.received.length > (before[at] ?? 0) + 20));
      killed.signal('SIGKILL');
      await killed.ended;
      kills += 1;
    }
    await using _ = await start();
    for (const [at, { id, consumer }] of endpoints.entries()) {
      const all = await system.untilAll(id, 'succeeded');
      assert.ok(all.every(({ attemptCount }) => attemptCount === 1));
      assert.equal(new Set(idsOf(consumer)).size, EVENTS);
      isAscending(idsOf(consumer), events[at] ?? []);
      // At a kill one attempt of a lane is under way, and those that ended last may not be recorded.
      assert.ok(consumer.received.length <= EVENTS + kills * 10, `${consumer.received.length - EVENTS} duplicates`);
    }
  });

  it('attempt a delivery that ends their process three times, then it counts as failed and the others go on', async () => {
    const { id, consumer } = await system.made();
    const [first, fatal, last] = await system.enqueue(id, 3);
    consumer.answer(({ headers }) => ({ status: headers['webhook-id'] === fatal ? FATAL_STATUS : 200 }));
    const isOver = async (): Promise<boolean> => (await system.deliveries(id)).at(-1)?.status === 'succeeded';
    let ended = 0;
    while (!(await isOver())) {
      assert.ok(ended <= 3, `${ended} processes ended`);
      await using replica = await start();
      await Promise.race([replica.ended.then(() => (ended += 1)), eventually(isOver)]);
    }
    assert.deepEqual([...new Set(idsOf(consumer))], [first, fatal, last]);
    assert.equal(idsOf(consumer).filter((eventId) => eventId === fatal).length, 3);
    const [, interrupted] = await system.deliveries(id);
    assert.deepEqual([interrupted?.status, interrupted?.attemptCount], ['pending', 1]);
    assert.equal(interrupted?.lastError, 'interrupted');
  });

  it('share the lanes: one that comes later takes those that are free, and two never serve one', async () => {
    const endpoints = await Promise.all(Array.from({ length: 6 }, () => system.made()));
    await using _ = await start();
    await using __ = await start();
    const events = await Promise.all(endpoints.map(({ id }) => system.enqueue(id, 20)));
    for (const [at, { id, consumer }] of endpoints.entries()) {
      await system.untilAll(id, 'succeeded');
      assert.deepEqual(idsOf(consumer), events[at]);
    }
  });

  it('announce over NATS what another one holds, so that it does not have to look', async () => {
    await using server = await testNats('announcements');
    await using stack = new AsyncDisposableStack();
    const connect = async (): Promise<ReturnType<typeof openNats>> => {
      const nats = openNats({ natsUrls: [server.url], name: 'test', log: quiet, stack });
      await nats.ready;
      return nats;
    };
    const [one, other] = [await connect(), await connect()];
    const { id, consumer } = await system.made();
    // Both look once, at their start.
    const limits = { pollMs: 60_000, leaseMs: 150_000, attemptMs: 1_000 };
    await using holder = system.lanes({ limits });
    onAnnounced({ nats: other, of: STREAM }, ({ endpointIds }) => holder.announced(endpointIds));
    await system.enqueue(id);
    holder.wake([id]);
    await system.untilAll(id, 'succeeded');
    await using enqueuer = system.lanes({
      limits,
      announce: (endpointIds) => announce({ nats: one, of: STREAM }, { endpointIds }),
    });
    await other.connection()?.flush();
    await system.enqueue(id);
    enqueuer.wake([id]);
    await consumer.until((all) => all.length === 2);
    await system.setEnabled(id, false);
    await system.setEnabled(id, true);
    const [first] = await system.untilAll(id, 'succeeded');
    await system.retry(id, first?.id ?? '');
    enqueuer.change([id]);
    await consumer.until((all) => all.length === 3);
  });

  it('lose no result while PostgreSQL is away, and go on in order', async () => {
    const { id, consumer } = await system.made();
    const { hostname, port } = new URL(system.databaseUrl);
    await using wire = await openWire({ host: hostname, port: Number(port) });
    await using stack = new AsyncDisposableStack();
    const url = wire.through(system.databaseUrl);
    const { pool } = openPostgres({ url, poolMax: 4, applicationName: 'test', log: quiet, stack });
    consumer.answer({ status: 200, afterMs: 20 });
    const events = await system.enqueue(id, 60);
    await using lanes = system.lanes({ pool, limits: { outcomeRetryMs: 50 } });
    lanes.wake([id]);
    await consumer.until((all) => all.length > 10);
    wire.cut();
    await sleep(300);
    wire.mend();
    await system.untilAll(id, 'succeeded');
    assert.deepEqual(idsOf(consumer), events);
  });

  it('do not claim a lane while they still give it back [webhooks.order.commit]', async () => {
    const { id, consumer } = await system.made();
    let onRelease: (() => Promise<void>) | null = null;
    const pool = new Proxy(system.pool, {
      get(target, name) {
        if (name !== 'query') return Reflect.get(target, name) as unknown;
        return async (query: { readonly name?: string }) => {
          const act = query.name === 'release_lanes' ? onRelease : null;
          onRelease = act === null ? onRelease : null;
          await act?.();
          return target.query(query as never);
        };
      },
    });
    await using lanes = system.lanes({ pool, limits: { pollMs: 50, laneIdleMs: 100 } });
    const [first] = await system.enqueue(id);
    lanes.wake([id]);
    await system.untilAll(id, 'succeeded');
    consumer.answer({ status: 200, afterMs: 600 });
    const { promise: released, resolve } = Promise.withResolvers<string | undefined>();
    onRelease = async () => {
      const [second] = await system.enqueue(id);
      lanes.wake([id]);
      await sleep(300);
      resolve(second);
    };
    const second = await released;
    await system.untilAll(id, 'succeeded');
    await sleep(300);
    assert.deepEqual(idsOf(consumer), [first, second], 'each event is sent once');
  });
});
