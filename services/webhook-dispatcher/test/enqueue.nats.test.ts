import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { LIMITS, STREAM, WIRE_VERSION } from '@wts/contracts';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { ensureStream } from '@wts/log/stream';
import { openNats, type Nats } from '@wts/service-kit/nats';
import { openPostgres, type LeasedWork } from '@wts/service-kit/postgres';
import { eventually, openTestPostgres, testNats } from '@wts/testkit';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { enqueueMetrics, type EnqueueMetrics } from '../src/enqueue/metrics.ts';
import { openEnqueue } from '../src/enqueue/enqueue.ts';
import { ChaosRelay } from './chaos-relay.ts';
import { LogAndEndpoints, quiet } from './log-and-endpoints.ts';

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Without its first entry. */
function cut({ actions, ...chunk }: EntryChunk): EntryChunk {
  return { ...chunk, prev: chunk.first, first: actions[1]?.syncId ?? chunk.last, actions: actions.slice(1) };
}

describe('following the log', function () {
  this.timeout(120_000);
  let stack: AsyncDisposableStack;
  let store: LogAndEndpoints;
  let broker: Awaited<ReturnType<typeof testNats>>;
  let relay: ChaosRelay;
  let nats: Nats;
  let metrics: EnqueueMetrics;
  let woken: string[];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    broker = stack.use(await testNats('enqueue'));
    store = stack.use(await LogAndEndpoints.open('following'));
    relay = stack.use(await ChaosRelay.open(store.admin, broker.url));
    await ensureStream(relay.nc, { replicas: 1 });
    nats = openNats({ urls: [broker.url], name: 'test', log: quiet, stack });
    metrics = enqueueMetrics(new Registry());
    woken = [];
  });
  afterEach(() => stack.disposeAsync());

  const open = (pool: Pool = store.pool, databaseUrl = store.database.urlOf('wts_webhooks')): LeasedWork =>
    stack.use(
      openEnqueue({
        pool,
        databaseUrl,
        nats,
        onEnqueued: (endpointIds) => void woken.push(...endpointIds),
        metrics,
        logger: quiet,
      }),
    );
  const started = async (): Promise<LeasedWork> => {
    const enqueue = open();
    await eventually(async () => enqueue.isHolding && (await store.cursor()) !== null);
    return enqueue;
  };
  const delivered = (endpointId: string, places: readonly number[]): Promise<boolean> =>
    eventually(
      async () => {
        await store.assertDelivered(endpointId, places);
        return true;
      },
      { deadlineMs: 30_000, everyMs: 50 },
    );
  const count = async (counter: EnqueueMetrics['parked']): Promise<number> =>
    (await counter.get()).values[0]?.value ?? 0;

  it('C2, C3: delivers every entry once and in order however messages are lost, doubled, delayed, cut or unreadable [events.source.never-skipped]', async () => {
    await started();
    const endpoint = await store.endpoint();
    const late: EntryChunk[] = [];
    for (let round = 0; round < 150; round += 1) {
      const places = await store.append(Array.from({ length: 1 + (round % 4) }, () => ({})));
      const chunk = await relay.chunk(places[0]!, places.at(-1)!);
      const luck = Math.random();
      if (luck < 0.2) late.push(chunk);
      else if (luck < 0.3) relay.publish(STREAM.subject, 'no chunk', `e:${chunk.first}-${chunk.last}`);
      else if (luck < 0.4) relay.stream(cut(chunk), null);
      else if (luck < 0.6) for (const _ of [1, 2, 3]) relay.stream(chunk, null);
      else if (luck < 0.7) relay.stream({ ...chunk, epoch: randomUUID() }, null);
      else if (luck < 0.8) relay.stream(chunk);
      else if (luck < 0.9) relay.handOver(chunk);
      if (round % 7 === 0) for (const one of late.splice(0).toReversed()) relay.stream(one);
    }
    await delivered(endpoint, range(1, await store.head()));
    assert.ok(woken.includes(endpoint));
  });

  it('C5: brings what is committed at once when the broker works, and goes on from the log when it is emptied, deleted or gone', async () => {
    await started();
    const endpoint = await store.endpoint();
    const commit = async (isPublished: boolean): Promise<void> => {
      const [place = 0] = await store.append([{}]);
      if (isPublished) relay.stream(await relay.chunk(place, place));
      await delivered(endpoint, range(1, place));
    };
    await commit(true);
    await commit(false);
    const manager = await relay.nc.jetstreamManager();
    await manager.streams.delete(STREAM.name);
    await commit(false);
    await ensureStream(relay.nc, { replicas: 1 });
    await commit(true);
    await broker.kill();
    await commit(false);
    await broker.start();
    await commit(false);
  });

  it('goes on when another replica moved the cursor while the log could not be read', async () => {
    // It would end the process of the service.
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    stack.defer(() => void process.off('unhandledRejection', note));
    await started();
    const endpoint = await store.endpoint();
    const places = await store.append([{}]);
    await delivered(endpoint, places);
    const [mover, blocker] = [await store.admin.connect(), await store.admin.connect()];
    const waits = (count: number): Promise<unknown> =>
      eventually(async () => {
        const { rowCount } = await store.admin.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount === count;
      });
    try {
      await mover.query('begin; select from webhooks.cursor for update');
      // The other replica dealt with the first one of them.
      const [, second = 0] = await store.append([{}, {}]);
      places.push(second);
      await waits(1);
      await blocker.query('begin; lock table sync.sync_actions in access exclusive mode');
      await waits(2);
      await mover.query('update webhooks.cursor set position = position + 1; commit');
      // The step that found the cursor moved is over before the log can be read again.
      await eventually(async () => {
        const { rowCount } = await store.admin.query(
          `select from pg_stat_activity where datname = current_database() and state = 'idle'
             and query = 'select epoch::text, position::text from webhooks.cursor where epoch is not null and position is not null'`,
        );
        return rowCount === 1;
      });
      await blocker.query('rollback');
    } finally {
      for (const client of [mover, blocker]) client.release(true);
    }
    places.push(...(await store.append([{}])));
    await delivered(endpoint, places);
    assert.deepEqual(unhandled, []);
  });

  it('gives an endpoint nothing from before it was created and nothing while it is disabled', async () => {
    await started();
    await store.append([{}, {}, {}]);
    const endpoint = await store.endpoint();
    const control = await store.endpoint();
    await store.append([{}, {}]);
    await delivered(control, [4, 5]);
    await store.pool.query('update webhooks.endpoints set enabled = false where id = $1', [endpoint]);
    await store.append([{}]);
    await delivered(control, [4, 5, 6]);
    await store.pool.query('update webhooks.endpoints set enabled = true where id = $1', [endpoint]);
    await store.append([{}]);
    await delivered(control, [4, 5, 6, 7]);
    await delivered(endpoint, [4, 5, 7]);
  });

  it('serves the first endpoint of a workspace from the first entry after it, however long none was there', async () => {
    await started();
    for (let round = 0; round < 30; round += 1) {
      const workspaceId = randomUUID();
      const [before = 0] = await store.append([{ workspaceId }]);
      const endpoint = await store.endpoint({ workspaceId });
      const places = await store.append([{ workspaceId }, { workspaceId: randomUUID() }, { workspaceId }]);
      assert.equal(places[0], before + 1);
      await delivered(endpoint, [before + 1, places[2]!]);
    }
  });

  it('goes on where the cursor stands when another process has moved it [never.actions-lost]', async () => {
    const enqueue = await started();
    const endpoint = await store.endpoint();
    for (let round = 0; round < 3; round += 1) {
      const [place = 0] = await store.append([{}]);
      await delivered(endpoint, range(1, place));
      // What it did is undone behind its back, which is how a step of another one looks to it.
      await store.admin.query(`begin;
        delete from webhooks.deliveries where endpoint_id = '${endpoint}' and sequence = (select max(sequence) from webhooks.deliveries);
        update webhooks.cursor set position = ${place - 1}; commit`);
      const [next = 0] = await store.append([{}]);
      await delivered(endpoint, range(1, next));
    }
    await eventually(() => enqueue.isHolding);
  });

  it('D9: deletes the endpoints of a workspace that is deleted', async () => {
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

  it('moves the cursor over entries without events, and never for each of them', async () => {
    await started();
    await store.pool.query('create table webhooks.moves (at bigint)');
    await store.pool.query(`create function webhooks.note_move() returns trigger language plpgsql as
      $$begin insert into webhooks.moves values (new.position); return null; end$$`);
    await store.pool.query(
      'create trigger moves after update on webhooks.cursor for each row execute function webhooks.note_move()',
    );
    for (let round = 0; round < 40; round += 1) await store.append([{ workspaceId: randomUUID() }, { model: 'Team' }]);
    const head = await store.head();
    await eventually(async () => (await store.cursor()) === head);
    const { rowCount } = await store.pool.query('select from webhooks.moves');
    assert.ok((rowCount ?? 0) <= 8, `${rowCount} moves`);
  });

  it('goes on in a new epoch without a gap and without a repetition [sync.log.epoch]', async () => {
    await started();
    const endpoint = await store.endpoint();
    const before = await store.append([{}, {}]);
    await delivered(endpoint, before);
    const unpublished = await store.append([{}, {}]);
    const chunk = await relay.chunk(unpublished[0]!, unpublished[1]!);
    await store.admin.query('select sync.begin_epoch()');
    const after = await store.append([{}, {}]);
    assert.ok(after[0]! > 1_000_000);
    relay.stream(chunk);
    relay.stream(await relay.chunk(after[0]!, after[1]!));
    await delivered(endpoint, [...before, ...unpublished, ...after]);
    const { rows } = await store.pool.query<{ epoch: string }>('select epoch::text from webhooks.cursor');
    assert.equal(rows[0]?.epoch, await store.epoch());
  });

  it('goes on behind what a promoted standby lacks: the last entries, their events and where the cursor stood then [sync.log.epoch]', async () => {
    await started();
    const endpoint = await store.endpoint();
    const kept = await store.append([{}, {}]);
    await delivered(endpoint, kept);
    const epoch = await store.epoch();
    const lost = await store.append([{}, {}, {}]);
    const chunk = await relay.chunk(lost[0]!, lost[2]!);
    await delivered(endpoint, [...kept, ...lost]);
    await store.admin.query(`begin;
      delete from sync.sync_actions where sync_id >= ${lost[0]};
      delete from webhooks.deliveries where event_id in (select id from webhooks.events where position >= ${lost[0]});
      delete from webhooks.events where position >= ${lost[0]};
      update webhooks.lanes set last_sequence = ${kept.length};
      update webhooks.cursor set epoch = '${epoch}', position = ${kept[1]};
      select sync.begin_epoch();
      commit`);
    relay.stream(chunk, null);
    relay.handOver(chunk);
    const next = await store.append([{}, {}]);
    await delivered(endpoint, [...kept, ...next]);
  });

  it('goes on at the floor when entries were trimmed before they became events, and counts them', async () => {
    const endpoint = await store.endpoint();
    await store.append([{}, {}, {}, {}, {}]);
    await store.pool.query(`update webhooks.cursor set epoch = $1, position = 1`, [await store.epoch()]);
    await store.admin.query('delete from sync.sync_actions where sync_id <= 3');
    await store.admin.query('update sync.log_state set floor = 3');
    await started();
    await delivered(endpoint, [4, 5]);
    assert.equal(await count(metrics.trimmed), 2);
  });

  describe('with an entry that can become no event', () => {
    async function parked(): Promise<Record<string, string>> {
      const { rows } = await store.pool.query<{ position: string; reason: string }>(
        'select position, reason from webhooks.parked_entries order by position',
      );
      return Object.fromEntries(rows.map(({ position, reason }) => [position, reason]));
    }

    it('C4: parks it with the reason, and goes on with what follows', async () => {
      await started();
      const endpoint = await store.endpoint();
      await store.append([{}, { model: 'Starship' }, {}, { workspaceId: null, groupId: store.workspaceId }, {}]);
      await delivered(endpoint, [1, 3, 5]);
      assert.deepEqual(await parked(), { 2: 'no model has this name', 4: 'a Task belongs to no workspace' });
      assert.equal(await count(metrics.parked), 2);
      const { rows } = await store.pool.query<{ entry: string }>('select entry from webhooks.parked_entries limit 1');
      assert.equal((JSON.parse(rows[0]?.entry ?? '') as StoredEntry).modelName, 'Starship');
    });

    it('parks what PostgreSQL refuses alone, not its neighbors', async () => {
      await started();
      const endpoint = await store.endpoint();
      const [first = 0] = await store.append([{}]);
      await delivered(endpoint, [first]);
      // In a message only, because the log takes none of them.
      const { actions, ...chunk } = await relay.chunk(first, first);
      const [action] = actions;
      const forged = range(2, 9).map((place) => ({ ...action, syncId: String(place), eventId: randomUUID() }));
      Object.assign(forged[2] ?? {}, { eventId: 'no uuid' });
      Object.assign(forged[4] ?? {}, { record: null, data: {} });
      Object.assign(forged[5] ?? {}, { record: 'DEEP' });
      Object.assign(forged[6] ?? {}, { createdAt: 'not a time' });
      const message = JSON.stringify({ v: WIRE_VERSION, ...chunk, prev: '1', first: '2', last: '9', actions: forged });
      relay.publish(STREAM.handover, message.replace('"DEEP"', '['.repeat(50_000) + ']'.repeat(50_000)));
      await delivered(endpoint, [1, 2, 3, 5, 7, 9]);
      const reasons = await parked();
      assert.deepEqual(Object.keys(reasons), ['4', '6', '8']);
      assert.match(reasons['4'] ?? '', /^22P02 /);
      assert.equal(reasons['6'], 'the entry has no record');
      assert.match(reasons['8'] ?? '', /^22007 /);
    });

    it('delivers large records, NUL and deep nesting as they are', async () => {
      await started();
      const endpoint = await store.endpoint();
      const large = { id: randomUUID(), description: 'x'.repeat(LIMITS.chunkBytesMax * 5) };
      const text = `{"id":"1","title":"\\u0000 \\ud800 é","deep":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
      await store.append([{ record: large }, { recordText: text }, {}]);
      await delivered(endpoint, [1, 2, 3]);
      const bodies = (await store.deliveries(endpoint)).map(({ body }) => body);
      assert.ok(bodies[0]?.includes(`"data":{"object":${JSON.stringify(large)},"changes":[]}`));
      assert.ok(bodies[1]?.includes(`"data":{"object":${text},"changes":[]}`));
    });
  });

  it('C6: loses and repeats nothing when PostgreSQL is killed, stopped and started again', async () => {
    const server = stack.use(await openTestPostgres('enqueue-postgres'));
    const own = stack.use(await LogAndEndpoints.open('killed', server.url()));
    const url = own.database.urlOf('wts_webhooks');
    const { pool } = openPostgres({ url, poolMax: 4, applicationName: 'test', log: quiet, stack });
    const enqueue = open(pool, url);
    await eventually(async () => enqueue.isHolding && (await own.cursor()) !== null);
    const endpoint = await own.endpoint();
    const places: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let count = 0; count < 30; count += 1) places.push(...(await own.append([{}, {}])));
      await (round % 2 === 0 ? server.kill() : server.stop());
      await server.start();
      await eventually(() => own.admin.query('select 1'));
    }
    places.push(...(await own.append([{}])));
    await eventually(
      async () => {
        await own.assertDelivered(endpoint, places);
        return true;
      },
      { deadlineMs: 30_000 },
    );
  });
});
