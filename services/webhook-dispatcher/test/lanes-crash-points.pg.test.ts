import assert from 'node:assert/strict';
import { eventually, type Receiver } from '@wts/testkit';
import type { PoolClient } from 'pg';
import { DISPATCH } from '../src/limits.ts';
import { LaneSystem } from './lane-system.ts';
import { startReplica, type Replica } from './replica.ts';

const HOUR_MS = 3_600_000;
const idsOf = ({ received }: Receiver): string[] => received.map(({ headers }) => String(headers['webhook-id']));

describe('a replica that serves lanes', () => {
  let system: LaneSystem;
  let id: string;
  let consumer: Receiver;
  before(async () => (system = await LaneSystem.open('crash-points')));
  after(() => system[Symbol.asyncDispose]());
  beforeEach(async () => {
    consumer = await system.receiver();
    id = await system.endpoint(consumer.url);
  });

  const start = (options: Partial<Parameters<typeof startReplica>[0]> = {}): Promise<Replica> =>
    startReplica({ databaseUrl: system.databaseUrl, ...options });
  async function kill(replica: Replica): Promise<void> {
    replica.signal('SIGKILL');
    await replica.ended;
  }
  const holderOf = async (): Promise<string | null> => {
    const sql = 'select holder from webhooks.lanes where endpoint_id = $1';
    return (await system.pool.query<{ holder: string | null }>(sql, [id])).rows[0]?.holder ?? null;
  };
  const isWaitedFor = async (): Promise<boolean> => {
    const { rowCount } = await system.db.admin.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount !== 0;
  };

  /** Holds rows or a table of the dispatcher, so that its next statement waits for them, until `work` is done. */
  async function holding(sql: string, values: unknown[], work: () => Promise<void>): Promise<void> {
    const client: PoolClient = await system.db.admin.connect();
    try {
      await client.query('begin');
      await client.query(sql, values);
      await work();
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  it('is killed after the enqueue and before the attempt: the event is sent when the lease ends, within ten seconds', async () => {
    assert(DISPATCH.leaseMs + DISPATCH.pollMs < 10_000);
    let events: string[] = [];
    await holding('lock table webhooks.secrets in access exclusive mode', [], async () => {
      const killed = await start();
      events = await system.enqueue(id, 3);
      // It leases the lane, and cannot read what is due.
      await eventually(async () => (await holderOf()) !== null && (await isWaitedFor()));
      await kill(killed);
    });
    await using _ = await start();
    const all = await system.untilAll(id, 'succeeded');
    assert.ok(all.every(({ attemptCount }) => attemptCount === 1));
    assert.deepEqual(idsOf(consumer), events);
  });

  it('is killed while it records a success, a failure and that an endpoint is gone: at most one repetition, and one attempt counts', async () => {
    const [good, bad, gone] = [await system.made(), await system.made(), await system.made()];
    good.consumer.answer({ status: 200 });
    bad.consumer.answer({ status: 500 });
    gone.consumer.answer({ status: 410 });
    const all = [good, bad, gone];
    const firsts = await Promise.all(all.map(async (one) => (await system.enqueue(one.id))[0]));
    const rows = 'select from webhooks.endpoints, webhooks.deliveries where endpoint_id = any($1) for update';
    await holding(rows, [all.map((one) => one.id)], async () => {
      const killed = await start();
      for (const { consumer: one } of all) await one.until((requests) => requests.length === 1);
      await eventually(isWaitedFor);
      await kill(killed);
    });
    await using _ = await start();
    for (const [at, one] of all.entries()) {
      await eventually(async () => (await system.deliveries(one.id))[0]?.attemptCount === 1);
      assert.equal((await system.attempts(one.id)).length, 1);
      const { received } = one.consumer;
      assert.ok(received.length <= 2, `${received.length} requests`);
      assert.deepEqual([...new Set(idsOf(one.consumer))], [firsts[at]]);
      assert.equal(new Set(received.map(({ body }) => body)).size, 1);
    }
    const states = await Promise.all(all.map((one) => system.state(one.id)));
    assert.deepEqual(
      states.map((state) => [state.enabled, state.disabledReason, state.consecutiveFailures]),
      [
        [true, null, 0],
        [true, null, 1],
        [false, 'gone', 1],
      ],
    );
    const [[delivered], [retried]] = [await system.deliveries(good.id), await system.deliveries(bad.id)];
    assert.deepEqual([delivered?.status, retried?.status], ['succeeded', 'pending']);
  });

  for (const [direction, clockAheadMs] of [
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ] as const) {
    it(`has a clock an hour ${direction}: leases, order, retries, secrets and timestamps are as with the right one [webhooks.headers.timestamp, webhooks.signature.rotation]`, async () => {
      const expiring = async (minutes: number): Promise<void> => {
        await system.pool.query(
          `update webhooks.secrets set expires_at = now() + make_interval(mins => $2)
           where endpoint_id = $1 and expires_at is null`,
          [id, minutes],
        );
        await system.addSecret(id);
      };
      await expiring(-30);
      await expiring(30);
      const events = await system.enqueue(id, 12);
      let failsAtMs = 0;
      consumer.answer(({ headers }) => {
        const isFirst = failsAtMs === 0 && headers['webhook-id'] === events[3];
        if (isFirst) failsAtMs = Date.now();
        return { status: isFirst ? 503 : 200, afterMs: 300 };
      });
      await using _ = await start({ clockAheadMs, schedule: '700ms,1h,1h,1h,1h,1h,1h' });
      await consumer.until((all) => all.length === 1);
      // Longer than a lease: the other one, which has the right clock, does not take the lane over.
      await using __ = await start();
      await system.untilAll(id, 'succeeded');
      const { received } = consumer;
      const retry = received.filter(({ headers }) => headers['webhook-id'] === events[3])[1];
      assert.deepEqual(
        received.filter((one) => one !== retry).map(({ headers }) => headers['webhook-id']),
        events,
      );
      const afterMs = (retry?.at ?? 0) - failsAtMs;
      assert.ok(afterMs >= 700 && afterMs < 20_000, `the retry came after ${afterMs} ms`);
      for (const { headers, at } of received) {
        assert.ok(Math.abs(Number(headers['x-begins-at']) - at) < 15_000, 'the time is that of PostgreSQL');
        assert.equal(String(headers['x-secrets']).split(' ').length, 2);
      }
    });
  }
});
