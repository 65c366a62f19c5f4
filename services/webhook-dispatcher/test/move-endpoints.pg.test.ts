import assert from 'node:assert/strict';
import { randomBytes, randomUUID, type UUID } from 'node:crypto';
import { Fault, type MovedDelivery, type MovedEndpoint } from '@wts/contracts';
import { parseSecretKeys, sealSecret, unsealSecret } from '@wts/service-kit/sealing';
import { endEndpoints, putEndpoints, takeEndpoints } from '../src/commands/move-endpoints.ts';
import { storedEvent } from '../src/domain/event.ts';
import { makeSecret } from '../src/domain/secrets.ts';
import { enqueue } from '../src/store/enqueue.ts';
import { movedEndpointStore } from '../src/store/moved-endpoints.ts';
import { LogAndEndpoints } from './log-and-endpoints.ts';

class Cell implements AsyncDisposable {
  readonly store: LogAndEndpoints;
  readonly keys = parseSecretKeys(randomBytes(32).toString('base64'));
  readonly announced: string[] = [];

  private constructor(store: LogAndEndpoints) {
    this.store = store;
  }

  static async open(label: string): Promise<Cell> {
    return new Cell(await LogAndEndpoints.open(label));
  }

  get context(): Parameters<typeof putEndpoints>[0] {
    return {
      movedEndpoints: movedEndpointStore(this.store.pool),
      secretKeys: this.keys,
      announce: (ids) => void this.announced.push(...ids),
      follow: () => undefined,
    };
  }

  async endpoint(workspaceId: string): Promise<{ readonly id: string; readonly secret: Buffer }> {
    const id = await this.store.endpoint({ workspaceId });
    const secret = makeSecret();
    const own = sealSecret(this.keys, id, secret);
    const sql = 'insert into webhooks.secrets (id, endpoint_id, key_id, sealed) values ($1, $1, $2, $3)';
    await this.store.pool.query(sql, [id, own.keyId, own.sealed]);
    return { id, secret };
  }

  /** Appends entries of tasks, and makes deliveries of them. */
  async events(workspaceId: UUID, count: number): Promise<string[]> {
    const places = await this.store.append(Array.from({ length: count }, () => ({ workspaceId })));
    await this.enqueue(workspaceId, places);
    return places.map(String);
  }

  async enqueue(workspaceId: UUID, places: readonly number[]): Promise<void> {
    const events = places.map((position) =>
      storedEvent({
        id: randomUUID(),
        position: String(position),
        type: 'task.created',
        createdAt: new Date().toISOString(),
        workspaceId,
        object: { id: randomUUID(), title: `"Täsk" ${position}` },
        changes: [],
      }),
    );
    const from = String(await this.store.cursor(workspaceId));
    const pages = [{ workspaceId, from, to: String(places.at(-1)) }];
    await enqueue(this.store.pool, { pages, events, parked: [], deletedWorkspaces: [] });
  }

  async take(workspaceId: string, limit = 2): Promise<{ endpoints: MovedEndpoint[]; deliveries: MovedDelivery[] }> {
    const through = String(await this.store.head());
    const taken = { endpoints: [] as MovedEndpoint[], deliveries: [] as MovedDelivery[] };
    for (let after: string | null | undefined; after !== null;) {
      const more = after === undefined ? {} : { after };
      const page = await takeEndpoints(this.context, { workspaceId, through, limit, ...more });
      taken.endpoints = [...page.endpoints];
      taken.deliveries.push(...page.deliveries);
      after = page.next;
    }
    return taken;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.store[Symbol.asyncDispose]();
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof Fault && error.code === 'unavailable';

describe('endpoints of a workspace that moves to another cell', () => {
  let one: Cell;
  let two: Cell;
  before(async () => ([one, two] = await Promise.all([Cell.open('move_one'), Cell.open('move_two')])));
  after(async () => {
    await one[Symbol.asyncDispose]();
    await two[Symbol.asyncDispose]();
  });

  it('are taken when all events are enqueued and no attempt is under way, and begin nothing from then on [cells.move.webhooks]', async () => {
    const workspaceId = randomUUID();
    const { id } = await one.endpoint(workspaceId);
    const places = await one.store.append([{ workspaceId }]);
    await assert.rejects(one.take(workspaceId), isUnavailable);
    await one.enqueue(workspaceId, places);
    const holder = randomUUID();
    const replica = `insert into webhooks.replicas (holder, leased_until) values ($1, now() + interval '1 minute')`;
    await one.store.pool.query(replica, [holder]);
    await one.store.pool.query('update webhooks.lanes set holder = $1 where endpoint_id = $2', [holder, id]);
    await assert.rejects(one.take(workspaceId), isUnavailable);
    assert.ok(one.announced.includes(id));
    await one.store.pool.query('update webhooks.lanes set holder = null where endpoint_id = $1', [id]);
    assert.equal((await one.take(workspaceId)).deliveries.length, 1);
    const stopped = 'select from webhooks.endpoints where id = $1 and moving_at is not null';
    assert.equal((await one.store.pool.query(stopped, [id])).rowCount, 1);
    await endEndpoints(one.context, { workspaceId, resume: true });
    assert.equal((await one.store.pool.query(stopped, [id])).rowCount, 0);
    // A late call deletes none where the workspace is, and all where it is not.
    const listed = async (): Promise<number> =>
      (await one.store.pool.query('select from webhooks.endpoints where id = $1 and deleted_at is null', [id]))
        .rowCount ?? 0;
    await one.store.admin.query(
      `insert into sync.workspaces (id, name, url_key, time_zone, created_at, updated_at, group_id, record)
        values ($1, 'W', $2, 'UTC', now(), now(), $1, '{}')`,
      [workspaceId, workspaceId],
    );
    await endEndpoints(one.context, { workspaceId, resume: false });
    assert.equal(await listed(), 1);
    await one.store.admin.query('delete from sync.workspaces where id = $1', [workspaceId]);
    await endEndpoints(one.context, { workspaceId, resume: false });
    assert.equal(await listed(), 0);
  });

  it('have the same ids and secrets, and what they wait for in its order, before new events and once [cells.move.webhooks]', async () => {
    const workspaceId = randomUUID();
    const endpoints = [await one.endpoint(workspaceId), await one.endpoint(workspaceId)];
    await one.events(workspaceId, 5);
    const [first] = await one.store.deliveries(endpoints[0]!.id);
    const failed = `update webhooks.deliveries set attempt_count = 1, scheduled_attempts = 1, scheduled_at = now() + interval '1 hour',
      last_error = 'timeout' where endpoint_id = $1 and event_id = $2`;
    await one.store.pool.query(failed, [endpoints[0]!.id, first!.eventId]);
    const before = await one.store.deliveries();
    const taken = await one.take(workspaceId);
    assert.deepEqual(await one.take(workspaceId), taken);
    assert.deepEqual([taken.endpoints.length, taken.deliveries.length], [2, 10]);

    // What was copied is no event in the new cell.
    await two.store.append([{ workspaceId }, { workspaceId }]);
    for (let again = 0; again < 2; again += 1) {
      await putEndpoints(two.context, { workspaceId, endpoints: taken.endpoints, deliveries: [], isLast: false });
      for (let from = 0; from < 10; from += 4) {
        const deliveries = taken.deliveries.slice(from, from + 4);
        await putEndpoints(two.context, { workspaceId, ...taken, deliveries, isLast: from === 8 });
      }
      if (again === 0) await two.events(workspaceId, 2);
    }
    for (const { id, secret } of endpoints) {
      const { rows } = await two.store.pool.query<{ keyId: string; sealed: Buffer }>(
        'select key_id as "keyId", sealed from webhooks.secrets where endpoint_id = $1',
        [id],
      );
      assert.deepEqual(
        rows.map((row) => unsealSecret(two.keys, id, row)),
        [secret],
      );
      const old = before.filter(({ endpointId }) => endpointId === id);
      const all = await two.store.deliveries(id);
      const shown = ({ eventId, sequence, body }: (typeof all)[number]) => [eventId, sequence, body];
      assert.deepEqual(all.slice(0, 5).map(shown), old.map(shown));
      assert.deepEqual(
        all.slice(5).map(({ sequence }) => sequence),
        [6, 7],
      );
    }
    const { rows } = await two.store.pool.query(
      'select last_error, attempt_count from webhooks.deliveries where event_id = $1 and endpoint_id = $2',
      [first!.eventId, endpoints[0]!.id],
    );
    assert.deepEqual(rows, [{ last_error: 'timeout', attempt_count: 1 }]);

    await endEndpoints(one.context, { workspaceId, resume: false });
    assert.deepEqual(await one.take(workspaceId), { endpoints: [], deliveries: [] });
    // Moving back: what was pending in the first cell was settled in the other one.
    await two.store.pool.query(`update webhooks.deliveries set status = 'succeeded'`);
    const back = await two.take(workspaceId);
    await putEndpoints(one.context, { workspaceId, ...back, isLast: true });
    const pending = `select from webhooks.deliveries where status = 'pending' and endpoint_id = any($1)`;
    assert.equal((await one.store.pool.query(pending, [endpoints.map(({ id }) => id)])).rowCount, 0);
    const other = putEndpoints(one.context, { workspaceId: randomUUID(), ...back, isLast: true });
    await assert.rejects(other, (error: unknown) => error instanceof Fault && error.code === 'conflict');
  });
});
