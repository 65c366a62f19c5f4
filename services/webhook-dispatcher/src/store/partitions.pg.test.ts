import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { LogAndEndpoints } from '../../test/log-and-endpoints.ts';
import { quiet, testContext } from '../../test/quiet.ts';
import { LIMITS } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import { maintainTables, maintainTablesOnce } from '../table-maintenance.ts';
import { testEvent } from '../domain/event.ts';
import { listDeleted, removeHistory, removeWithoutHistory } from './deleted-endpoints.ts';
import { enqueueTest } from './enqueue.ts';
import { dropOld, makePartitions } from './partitions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('the tables of webhooks', () => {
  let store: LogAndEndpoints;
  before(async () => (store = await LogAndEndpoints.open('tables')));
  beforeEach(() => store.clear());
  after(() => store[Symbol.asyncDispose]());

  const statusOf = ({ readiness }: ReturnType<typeof testContext>) => readiness.background()?.['table-maintenance'];
  const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
  /** An event, its delivery and an attempt. */
  async function put(at: string, endpointId: string = randomUUID(), sequence = 1): Promise<void> {
    const [event, delivery] = [randomUUID(), randomUUID()];
    await store.pool.query(
      `insert into webhooks.events (id, created_at, workspace_id, type, body) values ($1, $2, $1, 'task.created', '{}')`,
      [event, at],
    );
    await store.pool.query(
      `insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
       values ($1, $2, $3, $4, 'task.created', $5, $4)`,
      [delivery, endpointId, event, at, sequence],
    );
    await store.pool.query(
      `insert into webhooks.attempts (delivery_id, event_at, endpoint_id, number, started_at, duration_ms)
       values ($1, $2, $3, 1, $2, 5)`,
      [delivery, at, endpointId],
    );
  }
  async function where(table: string): Promise<string[]> {
    const { rows } = await store.pool.query<{ name: string }>(
      `select tableoid::regclass::text as name from webhooks.${table} order by 1`,
    );
    return rows.map(({ name }) => name.replace(/^webhooks\./, ''));
  }
  const nameOf = (table: string, days: number): string => `${table}_${daysAgo(days).slice(0, 10).replaceAll('-', '')}`;

  it('hold events, deliveries and attempts by the day, of today and of the days to come', async () => {
    await makePartitions(store.pool);
    for (const days of [0, -1, -2]) await put(daysAgo(days));
    for (const table of ['events', 'deliveries', 'attempts'])
      assert.deepEqual(
        await where(table),
        [0, -1, -2].map((days) => nameOf(table, days)),
      );
    await makePartitions(store.pool);
  });

  it('hold a day in the default partition when that caught rows of it before', async () => {
    await put(daysAgo(0));
    await put(daysAgo(5));
    await makePartitions(store.pool);
    await put(daysAgo(0));
    await put(daysAgo(-1));
    for (const table of ['events', 'deliveries', 'attempts'])
      assert.deepEqual(await where(table), [nameOf(table, -1), ...Array.from({ length: 3 }, () => `${table}_default`)]);
  });

  const isWaitedFor = (table: string) => async (): Promise<boolean> => {
    const { rowCount } = await store.admin.query('select from pg_locks where relation = $1::regclass and not granted', [
      `webhooks.${table}`,
    ]);
    return rowCount === 1;
  };

  /** Works again and again until partitions are made, so that work waits for that. Returns the results. */
  async function whileMade<T>(table: string, work: () => Promise<T>): Promise<T[]> {
    const blocker = await store.admin.connect();
    try {
      // Attaching waits for it, under the lock of the default partition. Other statements wait only for that lock.
      await blocker.query(`begin; lock table only webhooks.${table} in share update exclusive mode`);
      let isMade = false;
      const making = eventually(() => makePartitions(store.pool).then(() => true)).finally(() => (isMade = true));
      await eventually(isWaitedFor(table));
      const results: T[] = [];
      const working = (async () => {
        while (!isMade) results.push(await work());
      })();
      await Promise.race([eventually(isWaitedFor(`${table}_default`)), working]);
      await blocker.query('rollback');
      await Promise.all([making, working]);
      return results;
    } finally {
      blocker.release(true);
    }
  }

  for (const table of ['events', 'deliveries', 'attempts']) {
    it(`show all ${table} while partitions are made [never.actions-lost]`, async () => {
      await put(daysAgo(0));
      const results = await whileMade(table, () => store.admin.query(`select from webhooks.${table}`));
      assert.deepEqual([...new Set(results.map(({ rowCount }) => rowCount))], [1]);
    });
  }

  it('take a test event while partitions are made', async () => {
    const endpointId = await store.endpoint();
    const results = await whileMade('events', () => {
      const event = testEvent(randomUUID(), store.workspaceId, new Date().toISOString(), { id: endpointId });
      return enqueueTest(store.pool, endpointId, event, 1_000_000);
    });
    assert.deepEqual([...new Set(results.map(({ kind }) => kind))], ['queued']);
  });

  it(`keep everything ${LIMITS.deliveryDays} days, and lose what is older by the partition`, async () => {
    await makePartitions(store.pool);
    const old = [LIMITS.deliveryDays + 1, LIMITS.deliveryDays + 2];
    for (const table of ['events', 'deliveries', 'attempts']) {
      for (const days of [...old, LIMITS.deliveryDays]) {
        const [from, to] = [daysAgo(days).slice(0, 10), daysAgo(days - 1).slice(0, 10)];
        await store.pool.query(
          `create table webhooks.${nameOf(table, days)} partition of webhooks.${table} for values from ('${from} 00:00+00') to ('${to} 00:00+00')`,
        );
      }
    }
    // The first of them lies in the default partition.
    for (const days of [100, ...old, LIMITS.deliveryDays, 10, 0]) await put(daysAgo(days));
    const dropped = await dropOld(store.pool);
    assert.deepEqual(
      dropped,
      ['attempts', 'deliveries', 'events'].flatMap((table) => old.toReversed().map((days) => nameOf(table, days))),
      'no delivery is without its event',
    );
    for (const table of ['events', 'deliveries', 'attempts'])
      assert.deepEqual(
        await where(table),
        [LIMITS.deliveryDays, 0].map((days) => nameOf(table, days)).concat(`${table}_default`),
      );
    assert.deepEqual(await dropOld(store.pool), []);
  });

  it(`keep parked entries ${LIMITS.deliveryDays} days`, async () => {
    for (const [position, days] of [LIMITS.deliveryDays + 2, LIMITS.deliveryDays - 1, 0].entries()) {
      await store.pool.query(
        `insert into webhooks.parked_entries (position, reason, entry, parked_at) values ($1, 'none', '{}', $2)`,
        [position, daysAgo(days)],
      );
    }
    await dropOld(store.pool);
    const { rows } = await store.pool.query('select position from webhooks.parked_entries order by 1');
    assert.deepEqual(rows, [{ position: '1' }, { position: '2' }]);
  });

  it('are maintained by one replica at a time, while events are written', async () => {
    const databaseUrl = store.database.urlOf('wts_webhooks');
    const options = { pool: store.pool, databaseUrl, secretKeys: null, logger: quiet };
    let isMaintained = false;
    const writing = (async () => {
      let count = 0;
      for (; !isMaintained || count < 50; count += 1) await eventually(() => put(daysAgo(0)).then(() => true));
      return count;
    })();
    const contexts = [testContext(), testContext(), testContext()];
    {
      await using stack = new AsyncDisposableStack();
      for (const context of contexts) stack.use(maintainTables(context, options));
      await eventually(() => contexts.some((context) => statusOf(context)?.runs === 1), { deadlineMs: 20_000 });
    }
    assert.ok(contexts.every((context) => statusOf(context)?.failures === 0));
    isMaintained = true;
    const count = await writing;
    assert.ok((await where('attempts')).length >= count);
    assert.equal(new Set(await where('deliveries')).size, 1, 'a day lies in one partition');
  });

  it('lose all endpoints that were deleted since the last round, those without history before the others', async () => {
    const [old, kept] = [await store.endpoint({ deleted: true }), await store.endpoint()];
    await store.pool.query(`update webhooks.endpoints set deleted_at = '2020-01-01' where id = $1`, [old]);
    await put(daysAgo(1), old);
    await store.pool.query(
      `insert into webhooks.endpoints (id, workspace_id, url, description, event_types, since_position, created_by, deleted_at)
      select gen_random_uuid(), $1, 'https://example.com', '', '{}', 0, $1, now() from generate_series(1, 250)`,
      [store.workspaceId],
    );
    assert.equal(await removeWithoutHistory(store.pool), 0, 'an attempt may be in progress');
    assert.equal(await removeWithoutHistory(store.pool, 0), 250);
    const { rows } = await store.pool.query('select id from webhooks.endpoints where id = any($1)', [[old, kept]]);
    assert.equal(rows.length, 2);
    assert.equal(await removeHistory(store.pool, old), true);
    assert.equal(await removeHistory(store.pool, old), false);
  });

  it('lose a deleted endpoint with all its deliveries and attempts, and nothing of others [webhooks.delete.history]', async () => {
    const [deleted, young, other] = await Promise.all([
      store.endpoint({ deleted: true }),
      store.endpoint(),
      store.endpoint(),
    ]);
    for (let sequence = 1; sequence <= 7; sequence += 1) await put(daysAgo(sequence), deleted, sequence);
    for (const endpoint of [young, other]) await put(daysAgo(1), endpoint);
    assert.deepEqual(await listDeleted(store.pool), [], 'an attempt may be in progress');
    assert.deepEqual(await listDeleted(store.pool, 0), [deleted]);
    assert.equal(await removeHistory(store.pool, deleted, 3), true);
    assert.equal((await where('deliveries')).length, 6);
    await store.pool.query('update webhooks.endpoints set deleted_at = now() where id = $1', [young]);
    await maintainTablesOnce({ pool: store.pool, secretKeys: null, logger: quiet }, undefined, 0);
    const { rows } = await store.pool.query('select endpoint_id from webhooks.lanes');
    assert.deepEqual(rows, [{ endpoint_id: other }]);
    for (const table of ['deliveries', 'attempts']) {
      const { rows: left } = await store.pool.query(`select endpoint_id from webhooks.${table}`);
      assert.deepEqual(left, [{ endpoint_id: other }]);
    }
  });

  it('lose the disabled endpoints of a workspace that was deleted, with their lanes and secrets [webhooks.delete.history]', async () => {
    const [gone, kept] = [randomUUID(), randomUUID()];
    await store.admin.query(
      `insert into sync.workspaces (id, name, url_key, time_zone, group_id, record, created_at, updated_at)
        values ($1::uuid, 'W', 'w-key', 'UTC', $1::uuid, '{}', now(), now())`,
      [kept],
    );
    const deleted = await store.endpoint({ workspaceId: gone, enabled: false });
    const others = await Promise.all([
      store.endpoint({ workspaceId: kept, enabled: false }),
      store.endpoint({ workspaceId: gone }),
    ]);
    await store.pool.query(`update webhooks.endpoints set updated_at = now() - interval '2 hours'`);
    // It was changed just now.
    others.push(await store.endpoint({ workspaceId: gone, enabled: false }));
    await store.pool.query(
      `insert into webhooks.secrets (id, endpoint_id, key_id, sealed) select gen_random_uuid(), id, 'k', '\\x00' from webhooks.endpoints`,
    );
    await maintainTablesOnce({ pool: store.pool, secretKeys: null, logger: quiet }, undefined, 0);
    const idsIn = async (table: string, column: string): Promise<string[]> =>
      (await store.pool.query<{ id: string }>(`select ${column} as id from webhooks.${table}`)).rows.map(
        ({ id }) => id,
      );
    for (const [table, column] of Object.entries({ endpoints: 'id', lanes: 'endpoint_id', secrets: 'endpoint_id' })) {
      const ids = await idsIn(table, column);
      assert.ok(!ids.includes(deleted), table);
      assert.deepEqual(ids.toSorted(), others.toSorted(), table);
    }
  });
});
