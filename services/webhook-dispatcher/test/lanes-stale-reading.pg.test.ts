import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@wts/testkit';
import type { Pool, PoolClient } from 'pg';
import { LaneSystem } from './lane-system.ts';

/** A pool whose results of one statement arrive late, so that others are recorded meanwhile. */
function lateResults(pool: Pool, statement: string, ms: number): Pool {
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    return new Proxy(client, {
      get(target, property) {
        const value = Reflect.get(target, property) as unknown;
        if (typeof value !== 'function') return value;
        if (property !== 'query') return value.bind(target) as unknown;
        return async (query: { name?: string }, ...rest: unknown[]) => {
          const result: unknown = await Reflect.apply(value, target, [query, ...rest]);
          if (query.name === statement) await sleep(ms);
          return result;
        };
      },
    });
  };
  return new Proxy(pool, {
    get(target, property) {
      const value = Reflect.get(target, property) as unknown;
      if (property === 'connect') return connect;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('retries of a lane', () => {
  it('are made once when they succeed while the lane is being read [webhooks.attempt.success]', async () => {
    await using system = await LaneSystem.open('stale-reading');
    const consumer = await system.receiver();
    const seen = new Set<string>();
    consumer.answer(({ body }) => {
      const isFirst = !seen.has(body);
      seen.add(body);
      return isFirst ? { status: 500 } : { status: 204, afterMs: Math.random() * 40 };
    });
    const id = await system.endpoint(consumer.url);
    await system.enqueue(id, 30);
    await using lanes = system.lanes({ pool: lateResults(system.pool, 'read_retries', 50) });
    lanes.wake([id]);
    await eventually(async () => (await system.deliveries(id)).every(({ status }) => status === 'succeeded'));
    assert.deepEqual(
      (await system.deliveries(id)).map(({ attemptCount }) => attemptCount),
      Array.from({ length: 30 }, () => 2),
    );
    assert.equal(consumer.received.length, 60, 'a retry was repeated after its success');
  });
});
