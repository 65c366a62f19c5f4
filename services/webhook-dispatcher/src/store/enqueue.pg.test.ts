import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertAscending, LogAndEndpoints } from '../../test/log-and-endpoints.ts';
import { storedEvent, testEvent, type EventDraft, type StoredEvent } from '../domain/event.ts';
import { enqueue, enqueueTest, findServed, moveCursor, openCursor, readCursor, type Step } from './enqueue.ts';

describe('enqueuing a step', function () {
  this.timeout(60_000);
  let store: LogAndEndpoints;
  let epoch: string;
  before(async () => {
    store = await LogAndEndpoints.open('enqueue');
    epoch = await store.epoch();
  });
  after(() => store[Symbol.asyncDispose]());
  beforeEach(async () => {
    await store.admin.query(
      'truncate webhooks.endpoints, webhooks.lanes, webhooks.events, webhooks.deliveries cascade',
    );
    await store.admin.query('truncate sync.sync_actions; truncate webhooks.parked_entries');
    await store.admin.query('update webhooks.cursor set epoch = $1, position = 0', [epoch]);
  });

  function event(position: number, fields: Partial<EventDraft> = {}): StoredEvent {
    const { workspaceId } = store;
    return storedEvent({
      id: randomUUID(),
      position: String(position),
      type: 'task.created',
      createdAt: new Date().toISOString(),
      workspaceId,
      object: { id: randomUUID(), title: `"Täsk" ${position}\\\u0000` },
      changes: [],
      ...fields,
    });
  }
  const step = (from: number, to: number, events: readonly StoredEvent[], more: Partial<Step> = {}): Step => ({
    epoch,
    from: BigInt(from),
    to: BigInt(to),
    events,
    parked: [],
    otherWorkspaces: [],
    deletedWorkspaces: [],
    ...more,
  });

  it('makes a delivery of each event for each endpoint that wants it, in order, with the exact text [events.filter.empty-is-all, events.filter.list, events.body.same-id]', async () => {
    const all = await store.endpoint({ since: 0 });
    const some = await store.endpoint({ since: 0, eventTypes: ['task.updated', 'comment.created'] });
    const events = [event(1), event(2, { type: 'task.updated' }), event(3, { type: 'project.created' })];
    const result = await enqueue(store.pool, step(0, 3, events));
    assert.ok(result.kind === 'done');
    assert.deepEqual([[...result.endpointIds].sort(), result.deliveries], [[all, some].sort(), 4]);
    await store.assertDelivered(all, [1, 2, 3]);
    await store.assertDelivered(some, [2]);
    assert.deepEqual(
      (await store.deliveries(all)).map(({ eventId, body }) => [eventId, body]),
      events.map(({ id, body }) => [id, body]),
    );
    assert.deepEqual((await store.deliveries(all))[1]?.eventId, (await store.deliveries(some))[0]?.eventId);
    assert.equal(await store.cursor(), 3);
    const { rows } = await store.pool.query(
      'select last_sequence, wakes, due_at is not null as due from webhooks.lanes order by 1',
    );
    assert.deepEqual(rows, [
      { last_sequence: '1', wakes: '1', due: true },
      { last_sequence: '3', wakes: '1', due: true },
    ]);
  });

  it('makes none for endpoints that are disabled, deleted, of another workspace or younger than the event', async () => {
    await store.endpoint({ since: 0, enabled: false });
    await store.endpoint({ since: 0, deleted: true });
    await store.endpoint({ since: 0, workspaceId: randomUUID() });
    const young = await store.endpoint({ since: 2 });
    const { endpointIds } = {
      endpointIds: [],
      ...(await enqueue(store.pool, step(0, 3, [event(1), event(2), event(3)]))),
    };
    assert.deepEqual(endpointIds, [young]);
    await store.assertDelivered(young, [3]);
    const { rows } = await store.pool.query('select position from webhooks.events');
    assert.deepEqual(rows, [{ position: '3' }], 'an event that no endpoint gets is not kept');
  });

  it('changes nothing when the cursor stands elsewhere or the log is another one [never.actions-lost]', async () => {
    const endpoint = await store.endpoint({ since: 0 });
    const events = [event(1)];
    assert.equal((await enqueue(store.pool, step(0, 1, events))).kind, 'done');
    const parked = [{ position: '1', reason: 'none', entry: '{}' }];
    for (const again of [
      step(0, 1, events, { parked }),
      step(0, 2, [event(2)], { parked }),
      step(1, 2, [event(2)], { parked, epoch: randomUUID() }),
    ])
      assert.deepEqual(await enqueue(store.pool, again), { kind: 'moved' });
    await store.assertDelivered(endpoint, [1]);
    assert.equal((await store.pool.query('select from webhooks.parked_entries')).rowCount, 0);
    assert.equal(await store.cursor(), 1);
  });

  it('changes nothing when a workspace whose events are not in it has an endpoint', async () => {
    const endpoint = await store.endpoint({ since: 0 });
    const other = randomUUID();
    await store.endpoint({ since: 0, workspaceId: other });
    const unserved = [randomUUID(), randomUUID()];
    const result = await enqueue(store.pool, step(0, 1, [event(1)], { otherWorkspaces: [...unserved, other] }));
    assert.deepEqual(result, { kind: 'incomplete', workspaceIds: [other] });
    assert.equal(await store.cursor(), 0);
    await store.assertDelivered(endpoint, []);
    assert.equal((await enqueue(store.pool, step(0, 1, [event(1)], { otherWorkspaces: unserved }))).kind, 'done');
    assert.deepEqual(await findServed(store.pool, [...unserved, other]), [other]);
  });

  it('removes the lanes and secrets of a workspace that was deleted, and those of no other [webhooks.secret.at-rest]', async () => {
    const deleted = await store.endpoint({ since: 0 });
    const other = await store.endpoint({ since: 0, workspaceId: randomUUID() });
    for (const id of [deleted, other]) {
      const sql = `insert into webhooks.secrets (id, endpoint_id, key_id, sealed) values ($1, $2, 'key', '')`;
      await store.pool.query(sql, [randomUUID(), id]);
    }
    // Its last event is made into a delivery in the same statement.
    const last = step(0, 1, [event(1)], { deletedWorkspaces: [store.workspaceId] });
    const result = await enqueue(store.pool, last);
    assert.deepEqual(result.kind === 'done' && result.endpointIds, [deleted]);
    for (const table of ['lanes', 'secrets']) {
      const { rows } = await store.pool.query(`select endpoint_id from webhooks.${table}`);
      assert.deepEqual(rows, [{ endpoint_id: other }], table);
    }
    const { rows } = await store.pool.query('select enabled from webhooks.endpoints where id = $1', [deleted]);
    assert.deepEqual(rows, [{ enabled: false }]);
  });

  it('lets one of many that take the same step do it', async () => {
    const endpoint = await store.endpoint({ since: 0 });
    for (let place = 1; place <= 20; place += 1) {
      const results = await Promise.all(
        Array.from({ length: 4 }, () => enqueue(store.pool, step(place - 1, place, [event(place)]))),
      );
      assert.equal(results.filter(({ kind }) => kind === 'done').length, 1);
    }
    await store.assertDelivered(
      endpoint,
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it('begins at the head, or where the first endpoint was created, and goes on in a new epoch where it stands', async () => {
    await store.append([{}, {}, {}]);
    await store.admin.query('update webhooks.cursor set epoch = null, position = null');
    assert.equal(await readCursor(store.pool), null);
    assert.deepEqual(await openCursor(store.pool), { epoch, position: 3n });
    await store.append([{}]);
    assert.deepEqual(await openCursor(store.pool), { epoch, position: 3n });

    await store.endpoint({ since: 2 });
    await store.admin.query('update webhooks.cursor set epoch = null, position = null');
    assert.deepEqual(await openCursor(store.pool), { epoch, position: 2n });

    await store.admin.query('update webhooks.cursor set epoch = gen_random_uuid()');
    assert.deepEqual(await openCursor(store.pool), { epoch, position: 2n });
    await store.admin.query('update webhooks.cursor set position = 99');
    assert.deepEqual(await openCursor(store.pool), { epoch, position: 4n }, 'the log ends before');
    assert.equal(await moveCursor(store.pool, { epoch, from: 4n, to: 5n }), true);
    assert.equal(await moveCursor(store.pool, { epoch, from: 4n, to: 6n }), false);
    assert.deepEqual(await readCursor(store.pool), { epoch, position: 5n });
  });

  describe('and a test', () => {
    const queue = async (endpointId: string, pendingMax = 20): Promise<string> => {
      const event = testEvent(randomUUID(), store.workspaceId, new Date().toISOString(), { id: endpointId });
      return (await enqueueTest(store.pool, endpointId, event, pendingMax)).kind;
    };

    it('is queued for its endpoint alone, whatever that subscribes to [webhooks.test.never-filtered, webhooks.test.same-road, events.endpoint.test]', async () => {
      const endpoint = await store.endpoint({ eventTypes: ['comment.deleted'] });
      const other = await store.endpoint();
      assert.equal(await queue(endpoint), 'queued');
      const [delivery, ...rest] = await store.deliveries();
      assert.deepEqual(rest, []);
      assert.ok(delivery !== undefined);
      assert.deepEqual(
        [delivery.endpointId, delivery.eventType, delivery.sequence, delivery.position],
        [endpoint, 'endpoint.test', 1, null],
      );
      const body = JSON.parse(delivery.body) as Record<string, unknown>;
      assert.deepEqual([body['syncActionId'], body['data']], [null, { object: { id: endpoint }, changes: [] }]);
      await store.assertDelivered(other, []);
    });

    it('is refused for an endpoint that is disabled, deleted or unknown', async () => {
      assert.equal(await queue(await store.endpoint({ enabled: false })), 'disabled');
      assert.equal(await queue(await store.endpoint({ deleted: true })), 'not_found');
      assert.equal(await queue(randomUUID()), 'not_found');
      assert.deepEqual(await store.deliveries(), []);
    });

    it('D8: waits with no more than so many others, however many are asked for at once', async () => {
      const endpoint = await store.endpoint();
      const kinds = await Promise.all(Array.from({ length: 30 }, () => queue(endpoint, 5)));
      assert.equal(kinds.filter((kind) => kind === 'queued').length, 5);
      assert.equal(kinds.filter((kind) => kind === 'too_many').length, 25);
      await store.pool.query(`update webhooks.deliveries set status = 'succeeded' where sequence = 1`);
      assert.equal(await queue(endpoint, 5), 'queued');
    });

    it('keeps order and times strictly ascending beside events of the log [webhooks.order.commit]', async () => {
      const endpoints = await Promise.all(Array.from({ length: 3 }, () => store.endpoint({ since: 0 })));
      const places: number[] = [];
      const tests = endpoints.map(async (endpoint) => {
        for (let count = 0; count < 40; count += 1) assert.equal(await queue(endpoint, 100), 'queued');
      });
      const steps = (async () => {
        for (let from = 0; from < 300; from += 10) {
          const some = Array.from({ length: 10 }, (_, index) => from + index + 1);
          places.push(...some);
          const result = await enqueue(
            store.pool,
            step(
              from,
              from + 10,
              some.map((place) => event(place)),
            ),
          );
          assert.equal(result.kind, 'done');
        }
      })();
      await Promise.all([...tests, steps]);
      for (const endpoint of endpoints) {
        await store.assertDelivered(endpoint, places);
        const all = await store.deliveries(endpoint);
        assertAscending(all);
        assert.deepEqual(
          all.map(({ sequence }) => sequence),
          Array.from({ length: 340 }, (_, index) => index + 1),
        );
      }
    });
  });
});
