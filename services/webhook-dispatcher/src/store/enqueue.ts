import { webhookApi, type StoredEntry } from '@wts/contracts';
import { HEAD, LOG_COLUMNS, LOG_STATE, storedEntry, type LogRow } from '@wts/log';
import type { Pool, PoolClient } from 'pg';
import type { StoredEvent } from '../domain/event.ts';
import { DELETE_OF_GONE } from './deleted-endpoints.ts';
import { isOfNewPartition } from './partitions.ts';
import { inTransaction } from './transaction.ts';
import { IS_SERVED } from './workspaces.ts';

export interface ParkedEntry {
  readonly workspaceId: string;
  readonly position: string;
  readonly reason: string;
  readonly entry: string;
}

/** The entries of a workspace that follow its cursor. */
export interface WorkspacePage {
  readonly workspaceId: string;
  /** Where the cursor is before and behind them. */
  readonly from: string;
  readonly to: string;
  readonly entries: readonly StoredEntry[];
  readonly hasMore: boolean;
  /** Positions that were trimmed before they were read. */
  readonly trimmed: number;
}

/** What becomes of entries, and the cursors that it moves. */
export interface Step {
  readonly pages: readonly Pick<WorkspacePage, 'workspaceId' | 'from' | 'to'>[];
  readonly events: readonly StoredEvent[];
  readonly parked: readonly ParkedEntry[];
  /** Workspaces that were deleted: their endpoints go with them. */
  readonly deletedWorkspaces: readonly string[];
}

export interface StepResult {
  /** Workspaces whose cursor was free and where their page begins; of the others nothing was changed. */
  readonly moved: readonly string[];
  /** These have new deliveries, or were deleted. */
  readonly endpointIds: readonly string[];
  readonly deliveries: number;
}

interface PageAsked {
  readonly workspaceId: string;
  /** An entry makes one delivery for each endpoint at most, so a page has as many entries as keep to it, one at least. */
  readonly deliveriesMax: number;
  readonly bytesMax: number;
}

/** Without an enabled endpoint no entry is read, and the cursor moves to the head. */
const READ_PAGES = `select w.workspace_id as "pageOf", w.position::text as "from", log.head::text, log.floor::text,
    "limit", page.* from unnest($1::uuid[], $2::int[], $3::int[]) as asked(id, deliveries_max, bytes_max)
  join webhooks.workspaces w on w.workspace_id = asked.id
  cross join (select ${HEAD} as head, (select floor from ${LOG_STATE}) as floor) log
  cross join lateral (
    select case count(*) when 0 then 0 else greatest(1, asked.deliveries_max / count(*)) end as "limit"
    from webhooks.endpoints where workspace_id = asked.id and ${IS_SERVED}
  ) size
  left join lateral (
    select *, count(*) over () as found, sum(length(record)) over (order by position) - length(record) as bytes_before
    from (
      select ${LOG_COLUMNS}, sync_id as position from sync.sync_actions
      where group_id = asked.id and sync_id > w.position order by sync_id limit "limit"
    ) next
  ) page on bytes_before < asked.bytes_max
  order by w.workspace_id, page.position`;

type PageRow = LogRow & Readonly<Record<'pageOf' | 'from' | 'head' | 'floor' | 'limit' | 'found', string>>;

/** Cursors and entries in one snapshot. Rests on the index sync_actions (group_id, sync_id) and endpoints_workspace_id_idx. */
export async function readPages(pool: Pool, asked: readonly PageAsked[]): Promise<WorkspacePage[]> {
  const { rows } = await pool.query<PageRow>({
    name: 'read_pages',
    text: READ_PAGES,
    values: [
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ deliveriesMax }) => deliveriesMax),
      asked.map(({ bytesMax }) => bytesMax),
    ],
  });
  return [...Map.groupBy(rows, ({ pageOf }) => pageOf).values()].map(pageOf);
}

function pageOf(rows: readonly PageRow[]): WorkspacePage {
  const { pageOf: workspaceId, from, head, floor, limit, found } = rows[0] as PageRow;
  // A page without entries has one row.
  const entries = rows.filter(({ syncId }) => syncId !== null).map(storedEntry);
  const isCut = entries.length < Number(found);
  const hasMore = entries.length > 0 && (isCut || entries.length >= Number(limit));
  const to = hasMore ? (entries.at(-1)?.syncId ?? from) : maxOf(head, from);
  return { workspaceId, from, to, entries, hasMore, trimmed: Math.max(0, Number(floor) - Number(from)) };
}

function maxOf(one: string, other: string): string {
  return BigInt(one) > BigInt(other) ? one : other;
}

/**
 * The deliveries of `matched`, each behind those that its lane has: sequence and created_at, in whole milliseconds as the
 * API shows it, ascend. Lanes are locked in the order of their endpoints, because otherwise two statements could wait for
 * each other in a circle. The lane of an endpoint that moves is not woken, because nothing of it is attempted.
 */
const DELIVER = `lane as materialized (
    select endpoint_id, last_sequence, greatest(
        date_trunc('milliseconds', now()), date_trunc('milliseconds', last_created_at) + interval '1 millisecond'
      ) as next_at
    from webhooks.lanes where endpoint_id in (select endpoint_id from matched) order by endpoint_id for update
  ),
  delivery as materialized (
    select endpoint_id, event_id, event_at, event_type, workspace_id, position, body, is_moving, last_sequence + nth as sequence,
      next_at + (nth - 1) * interval '1 millisecond' as created_at
    from (select *, row_number() over (partition by endpoint_id order by place) as nth from matched) numbered
      join lane using (endpoint_id)
  ),
  kept_event as (
    insert into webhooks.events (id, created_at, workspace_id, position, type, body)
    select distinct on (event_id) event_id, event_at, workspace_id, position, event_type, body from delivery
    on conflict do nothing
  ),
  kept_delivery as (
    insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
    select gen_random_uuid(), endpoint_id, event_id, event_at, event_type, sequence, created_at from delivery
    on conflict do nothing returning id, endpoint_id
  ),
  woken as (
    update webhooks.lanes set last_sequence = last.sequence, last_created_at = last.created_at,
      wakes = wakes + case when is_moving then 0 else 1 end, due_at = case when is_moving then due_at else now() end
    from (select endpoint_id, is_moving, max(sequence) as sequence, max(created_at) as created_at from delivery group by 1, 2) last
    where lanes.endpoint_id = last.endpoint_id
  )`;

/**
 * The statement is a transaction of its own: events, deliveries and the cursors of their workspaces become true together or
 * not at all, and only from the place of the cursor, so neither a repeated entry nor a second replica makes a second delivery.
 *
 * A workspace that is deleted loses its endpoints, lanes and secrets at once. Its last events make no deliveries, because
 * a statement cannot change a lane and delete it.
 *
 * The commit of the statement is not waited for on disk. A server that crashes loses rows and cursor together, the log gives the entries
 * once more, and an attempt that was made in between is repeated with the same event id.
 */
const ENQUEUE = `with page as materialized (
    select w.workspace_id, page.upto from webhooks.workspaces w
      join unnest($1::uuid[], $2::bigint[], $3::bigint[]) as page(id, was, upto) on w.workspace_id = id and w.position = was
    for update of w skip locked
  ),
  moved as (
    update webhooks.workspaces w set position = upto from page where w.workspace_id = page.workspace_id
    returning w.workspace_id
  ),
  matched as materialized (
    select endpoints.id as endpoint_id, event.id as event_id, event.at as event_at, event.type as event_type,
      event.workspace_id, event.position, event.body, event.place, moving_at is not null as is_moving
    from unnest($4::uuid[], $5::bigint[], $6::timestamptz[], $7::uuid[], $8::text[], $9::text[])
        with ordinality as event(id, position, at, workspace_id, type, body, place)
      join moved using (workspace_id)
      join webhooks.endpoints on endpoints.workspace_id = event.workspace_id and ${IS_SERVED}
        and (event_types = '{}' or event.type = any(event_types)) and event.position > since_position
        and event.workspace_id <> all($14::uuid[])
  ),
  ${DELIVER},
  parked as (
    insert into webhooks.parked_entries (position, reason, entry)
    select position, reason, entry
    from unnest($10::uuid[], $11::bigint[], $12::text[], $13::text[]) as one(workspace_id, position, reason, entry)
      join moved using (workspace_id) on conflict do nothing
  ),
  gone as (
    update webhooks.endpoints set deleted_at = now(), updated_at = now(), enabled = false
    where workspace_id = any($14::uuid[]) and workspace_id in (select workspace_id from moved) and deleted_at is null
    returning id
  ),
  ${DELETE_OF_GONE}
  select array(select workspace_id::text from moved) as moved,
    array(select endpoint_id::text from kept_delivery
      where endpoint_id not in (select endpoint_id from matched where is_moving) union select id::text from gone) as "endpointIds",
    (select count(*)::int from kept_delivery) as deliveries,
    set_config('synchronous_commit', 'off', true)`;

export const ENQUEUE_STATEMENT = 'enqueue';

/**
 * Turns entries into deliveries. Keeps events.filter.empty-is-all and events.filter.list. Rests on
 * endpoints_workspace_id_idx and the keys of lanes and workspaces.
 */
export async function enqueue(pool: Pool, { pages, events, parked, deletedWorkspaces }: Step): Promise<StepResult> {
  const { rows } = await pool.query<StepResult>({
    name: ENQUEUE_STATEMENT,
    text: ENQUEUE,
    values: [
      pages.map(({ workspaceId }) => workspaceId),
      pages.map(({ from }) => from),
      pages.map(({ to }) => to),
      events.map(({ id }) => id),
      events.map(({ position }) => position),
      events.map(({ createdAt }) => createdAt),
      events.map(({ workspaceId }) => workspaceId),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
      parked.map(({ workspaceId }) => workspaceId),
      parked.map(({ position }) => position),
      parked.map(({ reason }) => reason),
      parked.map(({ entry }) => entry),
      deletedWorkspaces,
    ],
  });
  const { moved, endpointIds, deliveries } = rows[0] as StepResult;
  return { moved, endpointIds, deliveries };
}

const ENQUEUE_TEST = `with matched as materialized (
    select $1::uuid as endpoint_id, $2::uuid as event_id, $3::timestamptz as event_at, $4::text as event_type,
      $5::uuid as workspace_id, null::bigint as position, $6::text as body, 1 as place, false as is_moving
  ),
  ${DELIVER}
  select id::text from kept_delivery`;

export type TestResult =
  | { readonly kind: 'queued'; readonly deliveryId: string }
  | { readonly kind: 'not_found' | 'disabled' | 'too_many' };

/** One more for each of the two tables that may get their partition of today meanwhile. */
const TEST_TRIES = 3;

/**
 * Queues a test behind what its endpoint waits for already. Under the lock of the lane, so that no more than `pendingMax`
 * tests wait, however many are requested at once. Keeps events.endpoint.test, webhooks.test.same-road and
 * webhooks.test.never-filtered. Rests on deliveries_pending_tests_idx.
 */
export async function enqueueTest(
  pool: Pool,
  endpointId: string,
  event: StoredEvent,
  pendingMax: number,
): Promise<TestResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(pool, (client) => queueTest(client, endpointId, event, pendingMax));
    } catch (error) {
      if (tries >= TEST_TRIES || !isOfNewPartition(error)) throw error;
    }
  }
}

async function queueTest(
  client: PoolClient,
  endpointId: string,
  event: StoredEvent,
  pendingMax: number,
): Promise<TestResult> {
  const { rows: lanes } = await client.query<{ enabled: boolean }>(
    `select enabled from webhooks.lanes join webhooks.endpoints on id = endpoint_id
     where endpoint_id = $1 and deleted_at is null for update of lanes`,
    [endpointId],
  );
  const [lane] = lanes;
  if (lane === undefined) return { kind: 'not_found' };
  if (!lane.enabled) return { kind: 'disabled' };
  const { rows: pending } = await client.query(
    `select from webhooks.deliveries where endpoint_id = $1 and event_type = '${webhookApi.TEST_EVENT_TYPE}' and status = 'pending' limit $2`,
    [endpointId, pendingMax],
  );
  if (pending.length >= pendingMax) return { kind: 'too_many' };
  const { rows } = await client.query<{ id: string }>(ENQUEUE_TEST, [
    endpointId,
    event.id,
    event.createdAt,
    event.type,
    event.workspaceId,
    event.body,
  ]);
  const [delivery] = rows;
  if (delivery === undefined) throw new Error('a test was not queued');
  return { kind: 'queued', deliveryId: delivery.id };
}
