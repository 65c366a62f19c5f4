import assert from 'node:assert/strict';
import { DISPATCH } from '../src/limits.ts';
import { LaneSystem } from './lane-system.ts';

describe('the lanes of endpoints in a burst', () => {
  let system: LaneSystem;
  before(async () => (system = await LaneSystem.open('bursts')));
  after(() => system[Symbol.asyncDispose]());

  /** Events in one statement. Returns their ids in order. */
  async function enqueueAtOnce(endpointId: string, count: number): Promise<string[]> {
    const { rows } = await system.pool.query<{ id: string }>(
      `with made as (
        insert into webhooks.events (id, created_at, workspace_id, type, body)
        select gen_random_uuid(), now(), gen_random_uuid(), 'task.created', '{}' from generate_series(1, $2::int)
        returning id, created_at
      )
      insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
      select gen_random_uuid(), $1, id, created_at, 'task.created', nth, now() + nth * interval '1 millisecond'
      from (select id, created_at, row_number() over () as nth from made) numbered
      returning event_id as id`,
      [endpointId, count],
    );
    await system.wakeLane(endpointId);
    return rows.map(({ id }) => id);
  }

  it('bring more events than one reading to each of four endpoints, ascending, one at a time', async () => {
    const sent = new Map<string, string[]>();
    const underWay = new Set<string>();
    const ids = await Promise.all(Array.from({ length: 4 }, (_, at) => system.endpoint(`https://burst.example/${at}`)));
    const events = await Promise.all(ids.map((id) => enqueueAtOnce(id, 2 * DISPATCH.windowRows)));
    await using lanes = system.lanes({
      send: async ({ url, eventId }) => {
        assert.ok(!underWay.has(url), 'two attempts of one endpoint');
        underWay.add(url);
        sent.set(url, [...(sent.get(url) ?? []), eventId]);
        await new Promise(setImmediate);
        underWay.delete(url);
        return {
          startedAt: new Date(),
          durationMs: 1,
          statusCode: 204,
          error: null,
          snippet: null,
          retryAfterMs: null,
        };
      },
    });
    lanes.wake(ids);
    for (const [at, id] of ids.entries()) {
      await system.untilAll(id, 'succeeded');
      assert.deepEqual(sent.get(`https://burst.example/${at}`), events[at]);
    }
  });

  it('bring one event at a time where each delivery causes the next one', async () => {
    const consumer = await system.receiver();
    const id = await system.endpoint(consumer.url);
    const turns = 20;
    let underWay = 0;
    let highest = 0;
    const caused: Promise<string[]>[] = [];
    consumer.answer(() => {
      underWay += 1;
      highest = Math.max(highest, underWay);
      if (caused.length < turns) caused.push(system.enqueue(id), system.enqueue(id));
      setTimeout(() => (underWay -= 1), 5);
      return { status: 200, afterMs: 10 };
    });
    await system.enqueue(id);
    await using lanes = system.lanes({ limits: { pollMs: 20 } });
    lanes.wake([id]);
    await consumer.until((all) => all.length === turns + 1);
    await Promise.all(caused);
    const all = await system.untilAll(id, 'succeeded');
    assert.deepEqual(
      consumer.received.map(({ headers }) => headers['webhook-id']),
      all.map(({ eventId }) => eventId),
    );
    assert.equal(highest, 1);
  });
});
