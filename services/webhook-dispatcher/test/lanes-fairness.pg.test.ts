import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import type { Pool, PoolClient } from 'pg';
import { Registry } from 'prom-client';
import type { AttemptResult, SendAttempt } from '../src/domain/attempt.ts';
import { laneMetrics, watchLanes } from '../src/lanes/metrics.ts';
import { addReplica, claimDueLanes, readFirsts, readRetries } from '../src/store/lanes.ts';
import { LaneSystem } from './lane-system.ts';

const result = (error: AttemptResult['error']): AttemptResult => ({
  startedAt: new Date(),
  durationMs: 1,
  statusCode: error === null ? 204 : null,
  error,
  snippet: null,
  retryAfterMs: null,
});

/** Answers at once, but hangs at hosts whose name begins with `hang` until it is ended. */
function hangingSender(): { send: SendAttempt; sent: Map<string, number>; hanging: () => number; end: () => void } {
  const sent = new Map<string, number>();
  const ended = Promise.withResolvers<void>();
  let hanging = 0;
  return {
    send: async ({ url }) => {
      sent.set(url, (sent.get(url) ?? 0) + 1);
      if (!new URL(url).hostname.startsWith('hang')) return result(null);
      hanging += 1;
      await ended.promise;
      hanging -= 1;
      return result('timeout');
    },
    sent,
    hanging: () => hanging,
    end: () => ended.resolve(),
  };
}

describe('many endpoints', () => {
  let system: LaneSystem;
  before(async () => (system = await LaneSystem.open('fairness')));
  beforeEach(() => system.db.clear());
  after(() => system[Symbol.asyncDispose]());

  it('that hang, all at once and for ever, hold up no other one [webhooks.fairness.neighbors]', async () => {
    const { send, sent, hanging, end } = hangingSender();
    // Fewer places than endpoints that hang, of each kind: 90 hang, 10 answer, and none was attempted before.
    const limits = { quickSlots: 6, unknownSlots: 6, slowSlots: 3, slotsMax: 200, quickMs: 25 };
    await using lanes = system.lanes({ send, limits });
    const hangs = await Promise.all(
      Array.from({ length: 90 }, (_, at) => system.endpoint(`https://hang-${at}.example`)),
    );
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => system.endpoint(`https://host-${at}.example`)),
    );
    await Promise.all(hangs.map((id) => system.enqueue(id, 2)));
    lanes.wake(hangs);
    await eventually(() => hanging() >= 6);
    await Promise.all(answers.map((id) => system.enqueue(id, 20)));
    lanes.wake(answers);
    for (const id of answers) await system.untilAll(id, 'succeeded');
    // No attempt that hangs has ended, and still the others have everything.
    await eventually(() => hanging() === 90);
    assert.deepEqual(lanes.gauges.inFlight(), { quick: 0, unknown: 0, slow: 90 });
    await Promise.all(answers.map((id) => system.enqueue(id, 5)));
    lanes.wake(answers);
    for (const id of answers) await system.untilAll(id, 'succeeded');
    assert.equal(hanging(), 90);
    assert.equal(
      [...sent].filter(([url]) => url.includes('hang')).every(([, count]) => count === 1),
      true,
    );
    end();
  });

  it('of one owner that hang hold up no other endpoint of their origin, not even one without an attempt before [webhooks.fairness.neighbors, never.one-takes-all]', async () => {
    let hanging = 0;
    const ended = Promise.withResolvers<void>();
    const send: SendAttempt = async ({ url }) => {
      if (!url.includes('/hang/')) return result(null);
      hanging += 1;
      await ended.promise;
      return result('timeout');
    };
    await using lanes = system.lanes({ send, limits: { quickMs: 25 } });
    const ownerId = randomUUID();
    const hangs = await Promise.all(
      Array.from({ length: 60 }, (_, at) => system.endpoint(`https://one.example/hang/${at}`, { ownerId })),
    );
    await Promise.all(hangs.map((id) => system.enqueue(id, 2)));
    lanes.wake(hangs);
    await eventually(() => hanging >= 16);
    const other = await system.endpoint('https://one.example/other');
    await system.enqueue(other, 3);
    lanes.wake([other]);
    await system.untilAll(other, 'succeeded');
    ended.resolve();
  });

  it('of one owner leave lanes to other owners, however many have work [never.one-takes-all]', async () => {
    const { send, end } = hangingSender();
    await using lanes = system.lanes({ limits: { lanesMax: 16, lanesAtOnce: 2, pollMs: 20 }, send });
    const ownerId = randomUUID();
    const many = await Promise.all(
      Array.from({ length: 30 }, (_, at) => system.endpoint(`https://hang-${at}.example`, { ownerId })),
    );
    await Promise.all(many.map((id) => system.enqueue(id)));
    lanes.wake(many);
    await eventually(() => lanes.gauges.lanes().active >= 12);
    const other = await system.endpoint('https://other.example');
    await system.enqueue(other);
    const holder = 'select holder from webhooks.lanes where endpoint_id = $1';
    await eventually(async () => (await system.pool.query<{ holder: string | null }>(holder, [other])).rows[0]?.holder);
    end();
  });

  it('are claimed when they are woken, also after there was no room for one', async () => {
    let claims = 0;
    const query = system.pool.query.bind(system.pool) as (statement: { name?: string }) => Promise<unknown>;
    const pool = new Proxy(system.pool, {
      get: (target, name) =>
        name !== 'query'
          ? (Reflect.get(target, name) as unknown)
          : (statement: { name?: string }, ...values: []) => {
              if (statement.name === 'claim_lanes') claims += 1;
              return query(statement, ...values);
            },
    });
    const [one = '', other = '', last = ''] = await Promise.all(
      ['hang', 'other', 'last'].map((name) => system.endpoint(`https://${name}.example`)),
    );
    const { send, hanging, end } = hangingSender();
    await using lanes = system.lanes({ pool, send, limits: { lanesMax: 1, pollMs: 20, laneIdleMs: 0 } });
    await system.enqueue(one);
    lanes.wake([one]);
    await eventually(() => hanging() === 1);
    lanes.wake([other]);
    end();
    await eventually(() => lanes.gauges.lanes().active + lanes.gauges.lanes().idle === 0);
    const before = claims;
    lanes.wake([last]);
    await eventually(() => claims > before);
  });

  it('on one origin get sixteen attempts at a time, and all of them their events', async () => {
    let underWay = 0;
    let underWayMax = 0;
    const send: SendAttempt = async () => {
      underWay += 1;
      underWayMax = Math.max(underWayMax, underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      return result(null);
    };
    await using lanes = system.lanes({ send });
    const ids = await Promise.all(Array.from({ length: 60 }, (_, at) => system.endpoint(`https://one.example/${at}`)));
    // Those that are not known yet have fewer places.
    await system.pool.query('update webhooks.endpoints set has_succeeded = true');
    await Promise.all(ids.map((id) => system.enqueue(id, 3)));
    lanes.wake(ids);
    for (const id of ids) await system.untilAll(id, 'succeeded');
    assert.equal(underWayMax, 16);
  });

  it('with a large backlog cost as much to claim and to read as with a small one [webhooks.fairness.neighbors]', async () => {
    const cost = async (backlog: number): Promise<readonly number[]> => {
      const id = await system.endpoint('https://backlog.example');
      await fill(system, id, backlog);
      const client = await system.pool.connect();
      try {
        const explained = explaining(client);
        const after = Math.floor(backlog / 3);
        await readFirsts(explained.client, [{ endpointId: id, afterSequence: after }], { rows: 50, bytes: 1e6 });
        await readRetries(explained.client, [id], 8);
        await system.wakeLane(id);
        const holder = randomUUID();
        await addReplica(system.pool, holder, 60_000);
        await claimDueLanes(explained.pool, { holder, withoutOwners: [], max: 10 });
        return explained.blocks;
      } finally {
        client.release();
      }
    };
    const small = await cost(2_000);
    const large = await cost(10_000);
    // Fifty deliveries with their events; eight retries; a lane. Each event costs its path through an index.
    for (const [at, blocks] of large.entries())
      assert.ok(blocks <= (small[at] ?? 0) * 1.5 + 40, `statement ${at}: ${blocks} blocks, ${small[at]} with few`);
  });

  it('read a few deliveries of many days without reading the events of all of them', async () => {
    for (let ago = 0; ago < 10; ago += 1) await makeDay(system, new Date(Date.now() - ago * DAY_MS));
    const id = await system.endpoint('https://backlog.example');
    const count = 15_000;
    await fill(system, id, count, (10 * DAY_MS) / count);
    const client = await system.pool.connect();
    try {
      const explained = explaining(client);
      await readFirsts(explained.client, [{ endpointId: id, afterSequence: 0 }], { rows: 50, bytes: 1e6 });
      await readRetries(explained.client, [id], 8);
      const [firsts = 0, retries = 0] = explained.blocks;
      assert.ok(firsts < 400 && retries < 200, `${firsts} and ${retries} blocks`);
    } finally {
      client.release();
    }
  });

  it('are measured by what the checklist asks for', async () => {
    const registry = new Registry();
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    consumer.answer({ status: 410 });
    await using lanes = system.lanes({ metrics: laneMetrics(registry) });
    watchLanes(registry, lanes.gauges);
    await system.enqueue(id);
    lanes.wake([id]);
    await eventually(async () => !(await system.state(id)).enabled);
    const text = await eventually(async () => {
      const read = await registry.metrics();
      return read.includes('wts_webhooks_endpoints_disabled_total{reason="gone"} 1') ? read : null;
    });
    assert.match(text, /^wts_webhooks_first_attempt_delay_seconds_count 1$/m);
    for (const line of [
      'wts_webhooks_attempts_in_flight{pace="quick"} 0',
      'wts_webhooks_attempts_in_flight{pace="slow"} 0',
      'wts_webhooks_lanes{state="active"}',
      'wts_webhooks_lanes{state="slow"} 0',
      'wts_webhooks_oldest_due_seconds 0',
      'wts_webhooks_outcomes_unrecorded 0',
      'wts_webhooks_leases_expired_total 0',
    ]) {
      assert.ok(text.includes(`\n${line}`), `${line} in\n${text}`);
    }
  });

  it('are not served when a lease is too short to begin an attempt', () => {
    for (const limits of [{ leaseMs: 400 }, { leaseSlackMs: 2_000 }])
      assert.throws(() => system.lanes({ limits }), /too short/);
  });
});

const DAY_MS = 24 * 60 * 60 * 1000;

/** The partitions of a day, as the service has them. */
async function makeDay(system: LaneSystem, day: Date): Promise<void> {
  const [from, to] = [day, new Date(day.getTime() + DAY_MS)].map((at) => at.toISOString().slice(0, 10));
  for (const table of ['events', 'deliveries']) {
    await system.pool.query(`create table webhooks.${table}_${from?.replaceAll('-', '')}
      partition of webhooks.${table} for values from ('${from} 00:00+00') to ('${to} 00:00+00')`);
  }
}

/** Half of them wait for their first attempt, half for a retry in the future, and some retries are due. */
async function fill(system: LaneSystem, endpointId: string, count: number, apartMs = 1): Promise<void> {
  await system.pool.query(
    `with made as (
      insert into webhooks.events (id, created_at, workspace_id, type, body)
      select gen_random_uuid(), now() - n * $3::float8 * interval '1 millisecond', gen_random_uuid(), 'task.created', '{}'
      from generate_series(1, $2::int) n returning id, created_at
    )
    insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at, attempt_count,
      scheduled_attempts, scheduled_at)
    select gen_random_uuid(), $1, id, created_at, 'task.created', nth, now() + nth * interval '1 millisecond', nth % 2,
      nth % 2, case when nth % 2 = 1 then now() + (nth - 100) * interval '1 second' end
    from (select id, created_at, row_number() over () as nth from made) numbered`,
    [endpointId, count, apartMs],
  );
  await system.db.admin.query('vacuum analyze webhooks.deliveries, webhooks.events, webhooks.lanes');
}

/** Runs statements as `explain` does, and counts the blocks that each touches. */
function explaining(client: PoolClient): { client: PoolClient; pool: Pool; blocks: number[] } {
  const blocks: number[] = [];
  const query = async ({ text, values }: { text: string; values: unknown[] }): Promise<{ rows: never[] }> => {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
    blocks.push((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0));
    return { rows: [] };
  };
  const counted = { query } as unknown as PoolClient;
  return { client: counted, pool: counted as unknown as Pool, blocks };
}
