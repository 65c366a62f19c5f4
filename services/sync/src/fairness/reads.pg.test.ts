import assert from 'node:assert/strict';
import { eventually, testDatabase } from '@wts/testkit';
import type { Queryable } from '@wts/log';
import { Pool } from 'pg';
import { FairGate } from '@wts/service-kit/fairness';
import { Reads } from './reads.ts';

describe('reads by turns of people', () => {
  let pool: Pool;
  let admin: Pool;
  const stack = new AsyncDisposableStack();
  before(async () => {
    const database = stack.use(await testDatabase('reads', { migrated: true }));
    const poolOf = (url: string): Pool => stack.adopt(new Pool({ connectionString: url }), (one) => one.end());
    pool = poolOf(database.urlOf('wts_sync'));
    admin = poolOf(database.url);
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
  });
  after(() => stack.disposeAsync());

  const never = new AbortController().signal;
  const asleep = async (): Promise<number> => {
    const text = `select count(*)::int from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%' and state = 'active'`;
    const { rows } = await admin.query<{ count: number }>(text);
    return rows[0]?.count ?? 0;
  };
  const sleep = (database: Queryable): Promise<unknown> => database.query('select pg_sleep(60)');

  it('leave connections for others, however many slow reads one person starts, and stop when their client disconnects', async () => {
    const gate = new FairGate({ slots: 4, waitMs: 60_000, waitingMax: 1000, refusal: 'Too much' });
    const reads = new Reads(pool, gate);
    const leaving = new AbortController();
    const slow = Array.from({ length: 240 }, () => reads.run('ada', leaving.signal, sleep));
    await eventually(async () => (await asleep()) === 3);
    // Without turns they would take all connections, and the next reader would wait for one.
    const { rows } = await reads.run('bob', never, (database) => database.query<{ n: number }>('select 1 as n'));
    assert.deepEqual(rows, [{ n: 1 }]);
    assert.deepEqual([gate.waiting, pool.waitingCount], [237, 0]);
    assert.ok(pool.totalCount <= 4);

    leaving.abort(new Error('disconnected'));
    for (const one of await Promise.allSettled(slow))
      assert.equal(one.status === 'rejected' && (one.reason as Error).message, 'disconnected');
    assert.deepEqual([gate.running, gate.waiting], [0, 0]);
    // Long before the statement would end, because PostgreSQL checks whether its client is still connected.
    await eventually(async () => (await asleep()) === 0);
  });

  it('take no connection for a client that disconnected before its turn, and keep none of a failed read', async () => {
    const reads = new Reads(pool, new FairGate({ slots: 1, waitMs: 1000, waitingMax: 10, refusal: 'Too much' }));
    await assert.rejects(
      reads.run('ada', AbortSignal.abort(new Error('disconnected')), () => assert.fail('it started')),
      /disconnected/,
    );
    await assert.rejects(
      reads.run('ada', never, (database) => database.query('select nothing')),
      /nothing/,
    );
    const { rows } = await reads.run('ada', never, (database) => database.query<{ n: number }>('select 2 as n'));
    assert.deepEqual(rows, [{ n: 2 }]);
  });
});
