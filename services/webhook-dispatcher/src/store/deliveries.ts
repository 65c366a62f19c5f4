import type { WebhookAttempt, WebhookDelivery, WebhookEvent } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import { isoTimeSql } from '@wts/log';
import type { Knex } from 'knex';
import { wakeLane } from './endpoints.ts';

export type DeliveryStore = ReturnType<typeof deliveryStore>;

/** A delivery of a page, which is read without the text of its event: a hundred texts may be tens of megabytes. */
export interface ListedDelivery {
  readonly delivery: Omit<WebhookDelivery, 'payload'>;
  readonly bodyBytes: number;
  /** Exact, as PostgreSQL writes it: the partition of the event. */
  readonly eventAt: string;
}

const NEXT_ATTEMPT_AT = `(case when d.status <> 'pending' then null when d.attempt_count = 0 then d.created_at
  else least(d.scheduled_at, d.manual_at) end)`;

/**
 * Deliveries of an endpoint with their events, which are looked up after the limit and by their keys: `offset 0` keeps
 * PostgreSQL from reading every event of every day instead.
 */
const selectDeliveries = (
  event: string,
  which: string,
): string => `select d.id, d.endpoint_id as "endpointId", d.event_id as "eventId",
    d.event_type as "eventType", d.status, d.attempt_count as "attemptCount",
    ${isoTimeSql('d.created_at')} as "createdAt", ${isoTimeSql('d.completed_at')} as "completedAt",
    ${isoTimeSql('d.last_attempt_at')} as "lastAttemptAt", d.last_status_code as "lastStatusCode",
    d.last_response_snippet as "lastResponseSnippet", d.last_error as "lastError", ${event},
    ${isoTimeSql(NEXT_ATTEMPT_AT)} as "nextAttemptAt"
  from (select * from webhooks.deliveries where endpoint_id = :endpointId and ${which}) d
    cross join lateral (
      select body from webhooks.events where id = d.event_id and created_at = d.event_at offset 0
    ) e
  order by d.created_at desc`;

const LIST = selectDeliveries(
  'octet_length(e.body) as "bodyBytes", d.event_at::text as "eventAt"',
  `(cast(:before as timestamptz) is null or created_at < :before) order by created_at desc limit :limit`,
);
const FIND = selectDeliveries('e.body', 'id = :deliveryId');

/** Deliveries updated by one statement of a replay. */
const REPLAY_CHUNK = 5_000;

export function deliveryStore(knex: Knex) {
  return {
    /** The newest first, those created before a time. Index deliveries (endpoint_id, created_at desc), in each partition. */
    list: async (
      endpointId: string,
      { limit, before }: { readonly limit: number; readonly before: Date | null },
    ): Promise<ListedDelivery[]> => {
      type Row = ListedDelivery['delivery'] & Omit<ListedDelivery, 'delivery'>;
      const found = await rows<Row>(knex, LIST, { endpointId, limit, before });
      return found.map(({ bodyBytes, eventAt, ...delivery }) => ({ delivery, bodyBytes, eventAt }));
    },
    /**
     * The stored texts of the events of these deliveries, in their order; null for one that was removed after its days. The key of
     * events.
     */
    bodies: async (deliveries: readonly ListedDelivery[]): Promise<(string | null)[]> => {
      const sql = `select e.body from unnest(cast(:ids as uuid[]), cast(:ats as timestamptz[])) with ordinality as k(id, at, place)
          left join lateral (select body from webhooks.events where id = k.id and created_at = k.at offset 0) e on true
        order by k.place`;
      const ids = deliveries.map(({ delivery }) => delivery.eventId);
      const ats = deliveries.map(({ eventAt }) => eventAt);
      return (await rows<{ body: string | null }>(knex, sql, { ids, ats })).map(({ body }) => body);
    },
    find: async (endpointId: string, deliveryId: string): Promise<WebhookDelivery | null> => {
      const bindings = { endpointId, deliveryId };
      const found = await firstRow<Omit<WebhookDelivery, 'payload'> & { body: string }>(knex, FIND, bindings);
      if (found === null) return null;
      const { body, ...delivery } = found;
      return { ...delivery, payload: JSON.parse(body) as WebhookEvent };
    },
    /** The newest first. */
    attempts: (deliveryId: string, limit: number) => {
      const sql = `select number, ${isoTimeSql('started_at')} as "startedAt", duration_ms as "durationMs",
          status_code as "statusCode", response_snippet as "responseSnippet", error
        from webhooks.attempts where delivery_id = :deliveryId order by number desc limit :limit`;
      return rows<WebhookAttempt>(knex, sql, { deliveryId, limit });
    },
    /** Asks for one more attempt. A delivery that waits for its first attempt stays as it is. */
    retry: (endpointId: string, deliveryId: string): Promise<void> =>
      knex.transaction(async (trx) => {
        const sql = `update webhooks.deliveries set manual_at = now(), status = 'pending', completed_at = null
          where id = :deliveryId and endpoint_id = :endpointId and attempt_count > 0`;
        await rows(trx, sql, { deliveryId, endpointId });
        await wakeLane(trx, endpointId);
      }),
    /** Asks for one more attempt of each delivery that failed for good since then. Returns how many. */
    replay: async (endpointId: string, since: Date, limit: number): Promise<number> => {
      let count = 0;
      while (count < limit) {
        const chunk = Math.min(REPLAY_CHUNK, limit - count);
        const queued = await knex.transaction((trx) => replayChunk(trx, endpointId, { since, limit: chunk }));
        count += queued;
        if (queued < chunk) break;
      }
      return count;
    },
  };
}

/** Index deliveries (endpoint_id, created_at) of failed ones: what was queued leaves it, so no chunk reads what one before took. */
async function replayChunk(
  trx: Knex,
  endpointId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<number> {
  const sql = `update webhooks.deliveries d set manual_at = now(), status = 'pending', completed_at = null
    from (select id, event_at from webhooks.deliveries
      where endpoint_id = :endpointId and status = 'failed' and created_at >= :since
      order by created_at limit :limit for update skip locked) f
    where d.id = f.id and d.event_at = f.event_at returning d.id`;
  const queued = await rows(trx, sql, { endpointId, since, limit });
  await wakeLane(trx, endpointId);
  return queued.length;
}
