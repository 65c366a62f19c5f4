import { webhookApi } from '@wts/contracts';
import { HEAD, LOG_STATE } from '@wts/log';
import type { Pool, PoolClient } from 'pg';
import type { StoredEvent } from '../domain/event.ts';
import { isOfNewPartition } from './partitions.ts';
import { inTransaction } from './transaction.ts';

/** How far the log was turned into events. */
export interface Cursor {
  /** Of the log that `position` belongs to. */
  readonly epoch: string;
  readonly position: bigint;
}

export interface ParkedEntry {
  readonly position: string;
  readonly reason: string;
  readonly entry: string;
}

/** What becomes of a run of entries, and where the cursor is before and after it. */
export interface Step {
  readonly epoch: string;
  readonly from: bigint;
  readonly to: bigint;
  readonly events: readonly StoredEvent[];
  readonly parked: readonly ParkedEntry[];
  /** Workspaces with events that are not among `events`, because no endpoint of theirs was known. */
  readonly otherWorkspaces: readonly string[];
  /** Workspaces that were deleted: their endpoints go with them. */
  readonly deletedWorkspaces: readonly string[];
}

export type StepResult =
  /** `endpointIds`: have new deliveries, or were deleted. */
  | { readonly kind: 'done'; readonly endpointIds: readonly string[]; readonly deliveries: number }
  /** These do have endpoints: nothing was changed, the step has to be taken again with their events. */
  | { readonly kind: 'incomplete'; readonly workspaceIds: readonly string[] }
  /** The cursor is elsewhere: nothing was changed. */
  | { readonly kind: 'moved' };

const IS_SERVED = 'enabled and deleted_at is null';

/**
 * The cursor, brought to the log as it is now: before the first start it begins at the head, or where the first endpoint
 * was created; in a new epoch it stays where it is, because it is in the same database as the log and was restored
 * with it. Both are read in one snapshot: what an endpoint created later is for lies behind this head.
 */
export async function openCursor(pool: Pool): Promise<Cursor> {
  const { rows } = await pool.query<{ epoch: string; position: string }>(
    `with head as materialized (select ${HEAD} as at, (select epoch from ${LOG_STATE}) as epoch)
    update webhooks.cursor set epoch = head.epoch, position = least(
        head.at, coalesce(position, (select min(since_position) from webhooks.endpoints where deleted_at is null), head.at)
      )
    from head where is_only_row
    returning cursor.epoch::text, position::text`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('webhooks.cursor has no row: the migrations did not run to the end');
  return { epoch: row.epoch, position: BigInt(row.position) };
}

export async function readCursor(pool: Pool): Promise<Cursor | null> {
  const { rows } = await pool.query<{ epoch: string; position: string }>(
    'select epoch::text, position::text from webhooks.cursor where epoch is not null and position is not null',
  );
  const [row] = rows;
  return row === undefined ? null : { epoch: row.epoch, position: BigInt(row.position) };
}

/** Moves the cursor over entries without events; false when it is elsewhere. */
export async function moveCursor(
  pool: Pool,
  { epoch, from, to }: Pick<Step, 'epoch' | 'from' | 'to'>,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update webhooks.cursor set position = $3 where is_only_row and epoch = $1 and position = $2',
    [epoch, from.toString(), to.toString()],
  );
  return rowCount === 1;
}

/** Which of the workspaces have an endpoint that is served. Rests on endpoints_workspace_id_idx. */
export async function findServed(pool: Pool, workspaceIds: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'find_served',
    text: `select distinct workspace_id as id from webhooks.endpoints where workspace_id = any($1::uuid[]) and ${IS_SERVED}`,
    values: [workspaceIds],
  });
  return rows.map(({ id }) => id);
}

/**
 * The deliveries of `matched`, each behind those that its lane has: sequence and created_at, in whole milliseconds as the
 * API shows it, ascend. Lanes are locked in the order of their endpoints, because otherwise two statements could wait for
 * each other in a circle.
 */
const DELIVER = `lane as materialized (
    select endpoint_id, last_sequence, greatest(
        date_trunc('milliseconds', now()), date_trunc('milliseconds', last_created_at) + interval '1 millisecond'
      ) as next_at
    from webhooks.lanes where endpoint_id in (select endpoint_id from matched) order by endpoint_id for update
  ),
  delivery as materialized (
    select endpoint_id, event_id, event_at, event_type, workspace_id, position, body, last_sequence + nth as sequence,
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
    update webhooks.lanes set last_sequence = last.sequence, last_created_at = last.created_at, wakes = wakes + 1,
      due_at = now()
    from (select endpoint_id, max(sequence) as sequence, max(created_at) as created_at from delivery group by 1) last
    where lanes.endpoint_id = last.endpoint_id
  )`;

/**
 * The statement is a transaction of its own: events, deliveries and cursor become true together or not at all, and only
 * from the place of the cursor, so neither a repeated entry nor a second replica makes a second delivery.
 *
 * A workspace that is deleted loses its endpoints, lanes and secrets at once. Its last events make no deliveries, because
 * a statement cannot change a lane and delete it.
 *
 * The commit of the statement is not waited for on disk. A server that crashes loses rows and cursor together, the log gives the entries
 * once more, and an attempt that was made in between is repeated with the same event id.
 */
const ENQUEUE = `with served as materialized (
    select distinct workspace_id from webhooks.endpoints where workspace_id = any($4::uuid[]) and ${IS_SERVED}
  ),
  moved as (
    update webhooks.cursor set position = $3
    where is_only_row and epoch = $1 and position = $2 and not exists (select from served)
    returning position
  ),
  matched as materialized (
    select endpoints.id as endpoint_id, event.id as event_id, event.at as event_at, event.type as event_type,
      event.workspace_id, event.position, event.body, event.place
    from unnest($5::uuid[], $6::bigint[], $7::timestamptz[], $8::uuid[], $9::text[], $10::text[])
        with ordinality as event(id, position, at, workspace_id, type, body, place)
      join webhooks.endpoints on endpoints.workspace_id = event.workspace_id and ${IS_SERVED}
        and (event_types = '{}' or event.type = any(event_types)) and event.position > since_position
        and event.workspace_id <> all($14::uuid[])
    where exists (select from moved)
  ),
  ${DELIVER},
  parked as (
    insert into webhooks.parked_entries (position, reason, entry)
    select position, reason, entry from unnest($11::bigint[], $12::text[], $13::text[]) as one(position, reason, entry)
    where exists (select from moved) on conflict do nothing
  ),
  gone as (
    update webhooks.endpoints set deleted_at = now(), updated_at = now(), enabled = false
    where workspace_id = any($14::uuid[]) and deleted_at is null and exists (select from moved)
    returning id
  ),
  gone_lane as (
    delete from webhooks.lanes using gone where endpoint_id = gone.id
  ),
  gone_secret as (
    delete from webhooks.secrets using gone where endpoint_id = gone.id
  )
  select exists (select from moved) as moved, array(select workspace_id::text from served) as served,
    array(select endpoint_id::text from kept_delivery union select id::text from gone) as endpoints,
    (select count(*)::int from kept_delivery) as deliveries,
    set_config('synchronous_commit', 'off', true)`;

export const ENQUEUE_STATEMENT = 'enqueue';

/**
 * Turns a run of entries into deliveries. Keeps events.filter.empty-is-all and events.filter.list. Rests on
 * endpoints_workspace_id_idx and the key of lanes.
 */
export async function enqueue(pool: Pool, step: Step): Promise<StepResult> {
  const { events, parked } = step;
  const { rows } = await pool.query<{ moved: boolean; served: string[]; endpoints: string[]; deliveries: number }>({
    name: ENQUEUE_STATEMENT,
    text: ENQUEUE,
    values: [
      step.epoch,
      step.from.toString(),
      step.to.toString(),
      step.otherWorkspaces,
      events.map(({ id }) => id),
      events.map(({ position }) => position),
      events.map(({ createdAt }) => createdAt),
      events.map(({ workspaceId }) => workspaceId),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
      parked.map(({ position }) => position),
      parked.map(({ reason }) => reason),
      parked.map(({ entry }) => entry),
      step.deletedWorkspaces,
    ],
  });
  const [row] = rows;
  if (row?.moved === true) return { kind: 'done', endpointIds: row.endpoints, deliveries: row.deliveries };
  if (row !== undefined && row.served.length > 0) return { kind: 'incomplete', workspaceIds: row.served };
  return { kind: 'moved' };
}

const ENQUEUE_TEST = `with matched as materialized (
    select $1::uuid as endpoint_id, $2::uuid as event_id, $3::timestamptz as event_at, $4::text as event_type,
      $5::uuid as workspace_id, null::bigint as position, $6::text as body, 1 as place
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
 * tests wait, however many are asked for at once. Keeps events.endpoint.test, webhooks.test.same-road and
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
