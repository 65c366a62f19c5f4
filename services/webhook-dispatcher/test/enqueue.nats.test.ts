import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { STREAM, type StoredEntry } from '@wts/contracts';
import { openNats, type Nats } from '@wts/service-kit/nats';
import { openPostgres } from '@wts/service-kit/postgres';
import { eventually, openTestPostgres, testNats } from '@wts/testkit';
import { connect, type NatsConnection } from 'nats';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { enqueueMetrics, type EnqueueMetrics } from '../src/enqueue/metrics.ts';
import { openEnqueue, type Enqueue } from '../src/enqueue/enqueue.ts';
import { LogAndEndpoints } from './log-and-endpoints.ts';
import { quiet, testContext } from './quiet.ts';
import { STREAM_LIMITS } from '@wts/log/stream';

describe('following the log', () => {
  let stack: AsyncDisposableStack;
  let store: LogAndEndpoints;
  let broker: Awaited<ReturnType<typeof testNats>>;
  let nc: NatsConnection;
  let nats: Nats;
  let metrics: EnqueueMetrics;
  let woken: string[];

  before(async () => (broker = await testNats('enqueue')));
  after(() => broker[Symbol.asyncDispose]());
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    store = stack.use(await LogAndEndpoints.open('following'));
    const servers = new URL(broker.url).host;
    nc = stack.adopt(await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 50 }), (one) => one.close());
    nats = openNats({ natsUrls: [broker.url], name: 'test', log: quiet, stack });
    metrics = enqueueMetrics(new Registry());
    woken = [];
  });
  afterEach(() => stack.disposeAsync());

  const open = (pool: Pool = store.pool, databaseUrl = store.database.urlOf('wts_webhooks')): Enqueue =>
    stack.use(
      openEnqueue(testContext(), {
        pool,
        databaseUrl,
        nats,
        of: STREAM,
        onEnqueued: (endpointIds) => void woken.push(...endpointIds),
        metrics,
        logger: quiet,
      }),
    );
  const started = async (): Promise<Enqueue> => {
    const enqueue = open();
    await eventually(() => enqueue.isActive);
    return enqueue;
  };
  /** As sync does after a commit. */
  const announce = (workspaceIds: readonly string[] = [store.workspaceId]): void =>
    nc.publish(STREAM.committed, workspaceIds.join(','));
  const delivered = (endpointId: string, places: readonly number[]): Promise<boolean> =>
    eventually(
      async () => {
        await store.assertDelivered(endpointId, places);
        return true;
      },
      { everyMs: 50 },
    );
  /** The places of the entries with these numbers, in the order in which they were appended. */
  const at = (...numbers: number[]): number[] => numbers.map((number) => store.appended[number - 1] ?? 0);
  const count = async (counter: EnqueueMetrics['parked']): Promise<number> =>
    (await counter.get()).values[0]?.value ?? 0;

  it('delivers every entry once and in order however announcements are lost, doubled, early or unreadable [events.source.never-skipped]', async () => {
    await started();
    const endpoint = await store.endpoint();
    const other = randomUUID();
    for (let round = 0; round < 40; round += 1) {
      const luck = Math.random();
      if (luck < 0.2) announce();
      await store.append(Array.from({ length: 1 + (round % 4) }, () => ({})));
      if (luck < 0.3) announce([other]);
      else if (luck < 0.5) for (const _ of [1, 2, 3]) announce([other, store.workspaceId]);
      else if (luck < 0.6) nc.publish(STREAM.committed, '\u0000,,no id');
      else if (luck < 0.9) announce();
    }
    await delivered(endpoint, store.appended);
    assert.ok(woken.includes(endpoint));
  });

  it('delivers what is committed while the broker is away, and when it is back', async () => {
    await started();
    const endpoint = await store.endpoint();
    const commit = async (): Promise<void> => {
      await store.append([{}]);
      announce();
      await delivered(endpoint, store.appended);
    };
    await commit();
    await broker.kill();
    await commit();
    await broker.start();
    await commit();
  });

  it('reads no entry of a workspace without endpoints [webhooks.fairness.neighbors]', async () => {
    let rowsRead = 0;
    const query = store.pool.query.bind(store.pool) as (...statement: unknown[]) => Promise<{ rows: unknown[] }>;
    const pool = new Proxy(store.pool, {
      get: (target, name) =>
        name !== 'query'
          ? (Reflect.get(target, name) as unknown)
          : async (...statement: unknown[]) => {
              const result = await query(...statement);
              rowsRead += result.rows.length;
              return result;
            },
    });
    const enqueue = open(pool);
    await eventually(() => enqueue.isActive);
    const endpoint = await store.endpoint();
    const others = Array.from({ length: 10 }, () => randomUUID());
    await store.append(others.flatMap((workspaceId) => Array.from({ length: 20 }, () => ({ workspaceId }))));
    announce(others);
    const [place = 0] = await store.append([{}]);
    announce();
    await delivered(endpoint, [place]);
    assert.ok(rowsRead < 100, `${rowsRead} rows were read`);
  });

  it('receives no message of a commit while no workspace has an endpoint', async () => {
    await started();
    const received = async (): Promise<number> => {
      for (let count = 0; count < 100; count += 1) announce();
      await nc.flush();
      const connection = nats.connection();
      await connection?.flush();
      return connection?.stats().inMsgs ?? 0;
    };
    const before = await received();
    assert.equal((await received()) - before, 0);
    await store.endpoint();
    await store.append([{}]);
    await eventually(async () => (await received()) > before);
  });

  it('makes the backlog of one owner wait alone [webhooks.fairness.neighbors, never.one-takes-all]', async () => {
    const busy = { workspaceId: randomUUID(), ownerId: randomUUID() };
    for (let count = 0; count < 10; count += 1) await store.endpoint(busy);
    const endpoint = await store.endpoint();
    const entries = Array.from({ length: 600 }, () => ({ workspaceId: busy.workspaceId }));
    const [last = 0] = (await store.append([...entries, {}])).slice(-1);
    await started();
    await delivered(endpoint, [last]);
    // By their times, because the backlog goes on meanwhile.
    const { rows } = await store.pool.query<{ before: number }>(
      `select count(*)::int as before from webhooks.deliveries
       where created_at < (select created_at from webhooks.deliveries where endpoint_id = $1)`,
      [endpoint],
    );
    assert.ok((rows[0]?.before ?? 0) < 3_000, `${rows[0]?.before} of 6000 deliveries of the backlog were made before`);
  });

  it('goes on beside a step of another replica that holds its cursor for a while', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await started();
    const endpoint = await store.endpoint({ workspaceId: one });
    const neighbor = await store.endpoint({ workspaceId: other });
    const mover = await store.admin.connect();
    try {
      await mover.query(`begin; select from webhooks.workspaces where workspace_id = '${one}' for update`);
      const [first = 0, second = 0, third = 0] = await store.append([
        { workspaceId: one },
        { workspaceId: one },
        { workspaceId: other },
      ]);
      announce([one, other]);
      await delivered(neighbor, [third]);
      // The other replica dealt with the first one.
      await mover.query(`update webhooks.workspaces set position = ${first} where workspace_id = '${one}'; commit`);
      await delivered(endpoint, [second]);
    } finally {
      mover.release(true);
    }
  });

  it('gives an endpoint nothing from before it was created and nothing while it is disabled', async () => {
    await started();
    await store.append([{}, {}, {}]);
    const endpoint = await store.endpoint();
    const control = await store.endpoint();
    await store.append([{}, {}]);
    await delivered(control, at(4, 5));
    await store.pool.query('update webhooks.endpoints set enabled = false where id = $1', [endpoint]);
    await store.append([{}]);
    await delivered(control, at(4, 5, 6));
    await store.pool.query('update webhooks.endpoints set enabled = true where id = $1', [endpoint]);
    await store.append([{}]);
    await delivered(control, at(4, 5, 6, 7));
    await delivered(endpoint, at(4, 5, 7));
  });

  it('serves the first endpoint of a workspace from the first entry after it, however long none was there', async () => {
    await started();
    for (let round = 0; round < 3; round += 1) {
      const workspaceId = randomUUID();
      await store.append([{ workspaceId }]);
      const endpoint = await store.endpoint({ workspaceId });
      const places = await store.append([{ workspaceId }, { workspaceId: randomUUID() }, { workspaceId }]);
      await delivered(endpoint, [places[0]!, places[2]!]);
    }
  });

  it('goes on where the cursor stands when another process has moved it [never.actions-lost]', async () => {
    const enqueue = await started();
    const endpoint = await store.endpoint();
    for (let round = 0; round < 3; round += 1) {
      const [place = 0] = await store.append([{}]);
      await delivered(endpoint, store.appended);
      // What it did is undone behind its back, which is how a step of another one looks to it.
      await store.admin.query(`begin;
        delete from webhooks.deliveries where endpoint_id = '${endpoint}' and sequence = (select max(sequence) from webhooks.deliveries);
        update webhooks.workspaces set position = ${place - 1}; commit`);
      await store.append([{}]);
      await delivered(endpoint, store.appended);
    }
    await eventually(() => enqueue.isActive);
  });

  it('deletes the endpoints of a workspace that is deleted', async () => {
    await started();
    const workspaceId = randomUUID();
    const endpoint = await store.endpoint({ workspaceId });
    const other = await store.endpoint();
    const [first = 0] = await store.append([{ workspaceId }]);
    await delivered(endpoint, [first]);
    await store.append([{ workspaceId }, { workspaceId, model: 'Workspace', modelId: workspaceId, action: 'DELETE' }]);
    const places = await store.append([{ workspaceId }, {}]);
    await delivered(other, [places[1]!]);
    // In the step of its deletion a workspace has no deliveries any more.
    await delivered(endpoint, [first]);
    const { rows } = await store.pool.query<{ id: string }>(
      'select id from webhooks.endpoints where deleted_at is not null',
    );
    assert.deepEqual(rows, [{ id: endpoint }]);
  });

  it('passes over entries without events', async () => {
    await started();
    const endpoint = await store.endpoint();
    for (let round = 0; round < 10; round += 1) await store.append([{ workspaceId: randomUUID() }, { model: 'Team' }]);
    const [place = 0] = await store.append([{}]);
    announce();
    await delivered(endpoint, [place]);
    assert.equal(await store.cursor(), place);
  });

  it('goes on in a new epoch without a gap and without a repetition [sync.log.epoch]', async () => {
    await started();
    const endpoint = await store.endpoint();
    const before = await store.append([{}, {}]);
    await delivered(endpoint, before);
    const unannounced = await store.append([{}, {}]);
    await store.admin.query('select sync.begin_epoch()');
    const after = await store.append([{}, {}]);
    assert.ok(after[0]! > 1_000_000);
    announce();
    await delivered(endpoint, [...before, ...unannounced, ...after]);
  });

  it('goes on behind what a promoted standby lacks: the last entries, their events and where the cursor stood then [sync.log.epoch]', async () => {
    await started();
    const endpoint = await store.endpoint();
    const kept = await store.append([{}, {}]);
    await delivered(endpoint, kept);
    const lost = await store.append([{}, {}, {}]);
    await delivered(endpoint, [...kept, ...lost]);
    await store.admin.query(`begin;
      delete from sync.sync_actions where sync_id >= ${lost[0]};
      delete from webhooks.deliveries where event_id in (select id from webhooks.events where position >= ${lost[0]});
      delete from webhooks.events where position >= ${lost[0]};
      update webhooks.lanes set last_sequence = ${kept.length};
      update webhooks.workspaces set position = ${kept[1]};
      select sync.begin_epoch();
      commit`);
    announce();
    const next = await store.append([{}, {}]);
    await delivered(endpoint, [...kept, ...next]);
  });

  it('goes on at the floor when entries were trimmed before they became events, and counts them', async () => {
    const endpoint = await store.endpoint();
    const places = await store.append([{}, {}, {}, {}, {}]);
    await store.pool.query('update webhooks.workspaces set position = $1', [places[0]]);
    await store.admin.query('delete from sync.sync_actions where sync_id <= $1', [places[2]]);
    await store.admin.query('update sync.log_state set floor = $1', [places[2]]);
    await started();
    await delivered(endpoint, places.slice(3));
    assert.equal(await count(metrics.trimmed), 2);
  });

  describe('with an entry that can become no event', () => {
    async function parked(): Promise<Record<string, string>> {
      const { rows } = await store.pool.query<{ position: string; reason: string }>(
        'select position, reason from webhooks.parked_entries order by position',
      );
      return Object.fromEntries(rows.map(({ position, reason }) => [position, reason]));
    }

    it('parks it with the reason, and goes on with what follows', async () => {
      await started();
      const endpoint = await store.endpoint();
      await store.append([{}, { model: 'Starship' }, {}, { workspaceId: null, groupId: store.workspaceId }, {}]);
      await delivered(endpoint, at(1, 3, 5));
      const [starship, homeless] = at(2, 4);
      assert.deepEqual(await parked(), {
        [starship!]: 'no model has this name',
        [homeless!]: 'a Task belongs to no workspace',
      });
      assert.equal(await count(metrics.parked), 2);
      const { rows } = await store.pool.query<{ entry: string }>('select entry from webhooks.parked_entries limit 1');
      assert.equal((JSON.parse(rows[0]?.entry ?? '') as StoredEntry).modelName, 'Starship');
    });

    it('parks what PostgreSQL refuses alone, not its neighbors', async () => {
      const endpoint = await store.endpoint();
      const workspaceId = randomUUID();
      const neighbor = await store.endpoint({ workspaceId });
      await store.append([{}, {}, { createdAt: 'infinity' }, {}, { recordText: 'null' }, {}, { workspaceId }]);
      await started();
      await delivered(endpoint, at(1, 2, 4, 6));
      await delivered(neighbor, at(7));
      const reasons = await parked();
      const [endless, recordless] = at(3, 5).map(String) as [string, string];
      assert.deepEqual(Object.keys(reasons), [endless, recordless]);
      assert.match(reasons[endless] ?? '', /^23502 /);
      assert.equal(reasons[recordless], 'the entry has no record');
    });

    it('delivers large records, NUL and deep nesting as they are', async () => {
      await started();
      const endpoint = await store.endpoint();
      const large = { id: randomUUID(), description: 'x'.repeat(STREAM_LIMITS.chunkBytesMax * 5) };
      const text = `{"id":"1","title":"\\u0000 \\ud800 é","deep":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
      await store.append([{ record: large }, { recordText: text }, {}]);
      await delivered(endpoint, at(1, 2, 3));
      const bodies = (await store.deliveries(endpoint)).map(({ body }) => body);
      assert.ok(bodies[0]?.includes(`"data":{"object":${JSON.stringify(large)},"changes":[]}`));
      assert.ok(bodies[1]?.includes(`"data":{"object":${text},"changes":[]}`));
    });
  });

  it('loses and repeats nothing when PostgreSQL is killed, stopped and started again', async () => {
    const server = stack.use(await openTestPostgres('enqueue-postgres'));
    const own = stack.use(await LogAndEndpoints.open('killed', server.url()));
    const url = own.database.urlOf('wts_webhooks');
    const { pool } = openPostgres({ url, poolMax: 4, applicationName: 'test', log: quiet, stack });
    const enqueue = open(pool, url);
    await eventually(() => enqueue.isActive);
    const endpoint = await own.endpoint();
    const places: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 30; count += 1) places.push(...(await own.append([{}, {}])));
      await (round % 2 === 0 ? server.kill() : server.stop());
      // A backend may outlive its killed server for a moment, and would fail the next append.
      await eventually(() => own.admin.totalCount === 0);
      await server.start();
      await eventually(() => own.admin.query('select 1'));
    }
    places.push(...(await own.append([{}])));
    await eventually(async () => {
      await own.assertDelivered(endpoint, places);
      return true;
    });
  });
});
