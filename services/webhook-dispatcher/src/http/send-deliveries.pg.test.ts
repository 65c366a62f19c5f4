import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { LogAndEndpoints } from '../../test/log-and-endpoints.ts';
import { deliveryStore, type DeliveryStore } from '../store/deliveries.ts';
import { sendDeliveries } from './send-deliveries.ts';

describe('a page of deliveries', () => {
  const stack = new AsyncDisposableStack();
  let store: LogAndEndpoints;
  let deliveries: DeliveryStore;
  before(async () => {
    store = stack.use(await LogAndEndpoints.open('send_deliveries'));
    const url = store.database.urlOf('wts_webhooks');
    const log = createLogger({ name: 'test', level: 'warn' });
    deliveries = deliveryStore(openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack }).knex);
  });
  after(() => stack.disposeAsync());

  it('has each delivery with its own event, and none whose event is removed while it is sent [webhooks.deliveries.fields]', async () => {
    const endpointId = await store.endpoint();
    await store.pool.query(
      `with made as materialized (select gen_random_uuid() as id, n from generate_series(1, 4) n),
      e as (insert into webhooks.events (id, created_at, workspace_id, position, type, body)
        select id, now(), $1, n, 'task.created', '{"id":"' || id || '"}' from made
        returning id, created_at, position)
      insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
        select gen_random_uuid(), $2, id, created_at, 'task.created', position, now() + position * interval '1 second' from e`,
      [randomUUID(), endpointId],
    );
    const page = await deliveries.list(endpointId, { limit: 10, before: null });
    const eventIds = page.map(({ delivery }) => delivery.eventId);
    const gone = [eventIds[1], eventIds[3]];
    const bodies = async (some: Parameters<DeliveryStore['bodies']>[0]) => {
      await store.pool.query('delete from webhooks.events where id = any($1)', [gone]);
      return deliveries.bodies(some);
    };
    const res = Object.assign(new PassThrough(), { writeHead: () => undefined });
    const sending = sendDeliveries(res as unknown as ServerResponse, page, {
      bodies,
      signal: AbortSignal.timeout(60_000),
    });
    const sent = JSON.parse(await text(res)) as { deliveries: { eventId: string; payload: { id: string } }[] };
    await sending;
    assert.deepEqual(
      sent.deliveries.map(({ eventId, payload }) => [eventId, payload.id]),
      [eventIds[0], eventIds[2]].map((id) => [id, id]),
    );
  });
});
