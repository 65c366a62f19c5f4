import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertAscending, LogAndEndpoints } from '../../test/log-and-endpoints.ts';
import { storedEvent, testEvent, type EventDraft, type StoredEvent } from '../domain/event.ts';
import { enqueue, enqueueTest, readPages, type Step, type WorkspacePage } from './enqueue.ts';
import { adoptWorkspaces, moveIdleCursors, readBehind, readFollowed, updateOwners } from './workspaces.ts';

describe('enqueuing a step', () => {
  let store: LogAndEndpoints;
  before(async () => (store = await LogAndEndpoints.open('enqueue')));
  after(() => store[Symbol.asyncDispose]());
  beforeEach(async () => {
    await store.admin.query(
      'truncate webhooks.endpoints, webhooks.lanes, webhooks.events, webhooks.deliveries cascade',
    );
    await store.admin.query('truncate sync.sync_actions, webhooks.parked_entries, webhooks.workspaces');
    await store.admin.query('update sync.log_state set floor = 0, began_at = 0');
    const sql = 'insert into webhooks.workspaces (workspace_id, owner_id, position) values ($1, $1, 0)';
    await store.admin.query(sql, [store.workspaceId]);
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
    pages: [{ workspaceId: store.workspaceId, from: String(from), to: String(to) }],
    events,
    parked: [],
    deletedWorkspaces: [],
    ...more,
  });

  it('makes a delivery of each event for each endpoint that wants it, in order, with the exact text [events.filter.empty-is-all, events.filter.list, events.body.same-id]', async () => {
    const all = await store.endpoint({ since: 0 });
    const some = await store.endpoint({ since: 0, eventTypes: ['task.updated', 'comment.created'] });
    const events = [event(1), event(2, { type: 'task.updated' }), event(3, { type: 'project.created' })];
    const result = await enqueue(store.pool, step(0, 3, events));
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
    const { endpointIds } = await enqueue(store.pool, step(0, 3, [event(1), event(2), event(3)]));
    assert.deepEqual(endpointIds, [young]);
    await store.assertDelivered(young, [3]);
    const { rows } = await store.pool.query('select position from webhooks.events');
    assert.deepEqual(rows, [{ position: '3' }], 'an event that no endpoint gets is not kept');
  });

  it('changes nothing of a workspace whose cursor stands elsewhere, and moves the others [never.actions-lost]', async () => {
    const endpoint = await store.endpoint({ since: 0 });
    const workspaceId = randomUUID();
    const other = await store.endpoint({ since: 0, workspaceId });
    const events = [event(1)];
    assert.deepEqual((await enqueue(store.pool, step(0, 1, events))).moved, [store.workspaceId]);
    const parked = [{ workspaceId: store.workspaceId, position: '1', reason: 'none', entry: '{}' }];
    for (const again of [step(0, 1, events, { parked }), step(0, 2, [event(2)], { parked })])
      assert.deepEqual(await enqueue(store.pool, again), { moved: [], endpointIds: [], deliveries: 0 });
    const pages = [...step(0, 2, []).pages, { workspaceId, from: '0', to: '2' }];
    const result = await enqueue(store.pool, step(0, 2, [event(2), event(2, { workspaceId })], { pages, parked }));
    assert.deepEqual(result, { moved: [workspaceId], endpointIds: [other], deliveries: 1 });
    await store.assertDelivered(endpoint, [1]);
    await store.assertDelivered(other, [2]);
    assert.equal((await store.pool.query('select from webhooks.parked_entries')).rowCount, 0);
    assert.deepEqual([await store.cursor(), await store.cursor(workspaceId)], [1, 2]);
  });

  it('reads what follows a cursor, no more entries than keep to the deliveries of a step, and none without endpoints', async () => {
    const [some, idle, unserved] = [randomUUID(), randomUUID(), randomUUID()];
    for (const workspaceId of [some, some, some, some, idle]) await store.endpoint({ since: 0, workspaceId });
    await store.endpoint({ since: 0, workspaceId: unserved, enabled: false });
    const places = await store.append(
      Array.from({ length: 10 }, () => [{ workspaceId: some }, { workspaceId: unserved }, {}]).flat(),
    );
    const read = async (workspaceId: string, deliveriesMax: number, bytesMax = 1_000_000): Promise<WorkspacePage> => {
      const [page] = await readPages(store.pool, [{ workspaceId, deliveriesMax, bytesMax }]);
      assert.ok(page !== undefined);
      return page;
    };
    const shown = ({ entries, to, hasMore }: WorkspacePage) => [
      entries.map(({ syncId }) => Number(syncId)),
      to,
      hasMore,
    ];
    const own = places.filter((_, index) => index % 3 === 0);
    const end = String(places.at(-1));
    assert.deepEqual(shown(await read(some, 12)), [own.slice(0, 3), String(own[2]), true]);
    assert.deepEqual(shown(await read(some, 1)), [own.slice(0, 1), String(own[0]), true]);
    assert.deepEqual(shown(await read(some, 1_000, 1)), [own.slice(0, 1), String(own[0]), true]);
    assert.deepEqual(shown(await read(some, 1_000)), [own, end, false]);
    for (const one of [idle, unserved]) assert.deepEqual(shown(await read(one, 12)), [[], end, false]);
    await store.admin.query('update sync.log_state set floor = 4');
    assert.equal((await read(some, 1)).trimmed, 4);
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
    assert.deepEqual(result.endpointIds, [deleted]);
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
      assert.equal(results.filter(({ moved }) => moved.length === 1).length, 1);
    }
    await store.assertDelivered(
      endpoint,
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it('follows workspaces with an enabled endpoint, from the cursor of a version before or from their first endpoint', async () => {
    const places = await store.append([{}, {}, {}]);
    const workspaceId = randomUUID();
    await store.endpoint({ since: 2, workspaceId });
    await store.endpoint({ enabled: false });
    await store.admin.query('delete from webhooks.workspaces');
    await adoptWorkspaces(store.pool);
    assert.deepEqual([await store.cursor(), await store.cursor(workspaceId)], [places[2], 2]);
    await store.admin.query('delete from webhooks.workspaces; update webhooks.cursor set position = 1');
    await adoptWorkspaces(store.pool);
    await store.admin.query('update webhooks.cursor set position = null');
    assert.deepEqual([await store.cursor(), await store.cursor(workspaceId)], [1, 1]);
    const ids = (all: Awaited<ReturnType<typeof readBehind>>): string[] => all.map((one) => one.workspaceId);
    assert.deepEqual(ids(await readFollowed(store.pool, null)), [workspaceId]);
    assert.deepEqual(ids(await readBehind(store.pool)), []);
    await store.append([{ workspaceId }, {}]);
    assert.deepEqual(ids(await readBehind(store.pool)), [workspaceId]);
    // The log ends before: it was restored without its last entries.
    await store.admin.query('update webhooks.workspaces set position = 999999');
    await adoptWorkspaces(store.pool);
    assert.equal(await store.cursor(workspaceId), store.appended.at(-1));
  });

  it('moves the cursors of idle workspaces, forgets those without endpoints, and takes the oldest owner', async () => {
    const [busy, idle, former] = [randomUUID(), randomUUID(), randomUUID()];
    await store.append([{ workspaceId: busy }]);
    await store.admin.query('select sync.begin_epoch()');
    const [head = 0] = await store.append([{}]);
    for (const workspaceId of [busy, idle]) await store.endpoint({ since: 0, workspaceId });
    await store.endpoint({ since: 0, workspaceId: former, deleted: true });
    await moveIdleCursors(store.pool);
    assert.deepEqual(await Promise.all([busy, idle, former].map((id) => store.cursor(id))), [0, 0, 0]);
    await store.admin.query(`update webhooks.workspaces set followed_at = now() - interval '2 hours'`);
    await moveIdleCursors(store.pool);
    assert.deepEqual(await Promise.all([busy, idle, former].map((id) => store.cursor(id))), [0, head, null]);
    const owners = [randomUUID(), randomUUID()];
    for (const [days, userId] of owners.entries())
      await store.admin.query(
        `insert into sync.workspace_members (id, user_id, role, created_at, updated_at, workspace_id, group_id, record)
        values (gen_random_uuid(), $1, 'owner', now() - make_interval(days => $2), now(), $3, $3, '{}')`,
        [userId, days, idle],
      );
    await updateOwners(store.pool, [idle, busy]);
    const followed = await readFollowed(store.pool, [idle, busy]);
    assert.deepEqual(
      new Map(followed.map(({ workspaceId, ownerId }) => [workspaceId, ownerId])),
      new Map([
        [idle, owners[1]],
        [busy, busy],
      ]),
    );
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

    it('waits with no more than so many others, however many are asked for at once', async () => {
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
          assert.equal(result.moved.length, 1);
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
