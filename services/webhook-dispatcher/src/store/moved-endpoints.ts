import type { MovedDelivery, MovedEndpoint } from '@wts/contracts';
import { HEAD, isoTimeSql } from '@wts/log';
import type { SealedSecret } from '@wts/service-kit/sealing';
import type { Pool, PoolClient } from 'pg';
import { DELETE_OF_GONE } from './deleted-endpoints.ts';
import { lockWorkspaceSql } from './endpoints.ts';
import { inTransaction } from './transaction.ts';
import { ownerOf } from './workspaces.ts';

/*
 * The endpoints of a workspace that moves: `moving_at` is set from the first take in the old cell, and from the first put in the new one
 * until the last. Their events become deliveries meanwhile, and none is attempted.
 */

const OF_WORKSPACE = `workspace_id = $1 and deleted_at is null`;
/** Each lane that a replica holds reads its settings again, and gives the lease back because nothing is attempted. */
const WAKE = `update webhooks.lanes set wakes = wakes + 1, due_at = least(coalesce(due_at, now()), now())
  where endpoint_id = any($1::uuid[])`;

/** Stops the attempts; returns the endpoints. */
async function stopEndpoints(pool: Pool, workspaceId: string): Promise<string[]> {
  return inTransaction(pool, async (client) => {
    await lockWorkspace(client, workspaceId);
    const { rows: stopped } = await client.query<{ id: string }>(
      `update webhooks.endpoints set moving_at = now() where ${OF_WORKSPACE} and moving_at is null returning id`,
      [workspaceId],
    );
    if (stopped.length > 0) await client.query(WAKE, [stopped.map(({ id }) => id)]);
    return idsOf(client, workspaceId);
  });
}

/** The operations of this file, with the connections of management. */
export function movedEndpointStore(pool: Pool) {
  return {
    stop: (workspaceId: string) => stopEndpoints(pool, workspaceId),
    stopState: (workspaceId: string, through: string) => readStopState(pool, workspaceId, through),
    read: (workspaceId: string) => readMovedEndpoints(pool, workspaceId),
    pending: (cursor: DeliveryCursor, limit: number) => readPending(pool, cursor, limit),
    put: (workspaceId: string, part: MovedPart) => putEndpoints(pool, workspaceId, part),
    resume: (workspaceId: string) => resumeEndpoints(pool, workspaceId),
    end: (workspaceId: string) => endEndpoints(pool, workspaceId),
  };
}

export type MovedEndpointStore = ReturnType<typeof movedEndpointStore>;

/** What a move waits for. */
interface StopState {
  /** All events up to the position are deliveries. */
  readonly isEnqueued: boolean;
  /** No replica holds a lane of the endpoints, so no attempt is under way. */
  readonly isQuiet: boolean;
}

/** Index sync_actions (group_id, sync_id). */
const STOP_STATE = `select
  not exists (select from webhooks.workspaces w where w.workspace_id = $1 and w.position < $2::bigint
    and exists (select from webhooks.endpoints where ${OF_WORKSPACE} and enabled)
    and exists (select from sync.sync_actions a where a.group_id = $1 and a.sync_id > w.position and a.sync_id <= $2::bigint)
  ) as "isEnqueued",
  not exists (select from webhooks.lanes l where l.endpoint_id in (select id from webhooks.endpoints where ${OF_WORKSPACE})
    and l.holder is not null
    and not exists (select from webhooks.replicas r where r.holder = l.holder and (has_ended or r.leased_until < now()))
  ) as "isQuiet"`;

async function readStopState(pool: Pool, workspaceId: string, through: string): Promise<StopState> {
  const { rows } = await pool.query<StopState>(STOP_STATE, [workspaceId, through]);
  return rows[0] as StopState;
}

const timeSql = (column: string): string =>
  `${isoTimeSql(column, 'US')} as "${column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}"`;

export type StoredEndpoint = Omit<MovedEndpoint, 'secrets'> & {
  readonly secrets: readonly (Readonly<Record<'id' | 'keyId' | 'sealed' | 'createdAt', string>> & {
    readonly expiresAt: string | null;
  })[];
};

async function readMovedEndpoints(pool: Pool, workspaceId: string): Promise<StoredEndpoint[]> {
  const { rows } = await pool.query<StoredEndpoint>(
    `select id, url, description, event_types as "eventTypes", enabled, has_succeeded as "hasSucceeded",
      consecutive_failures as "consecutiveFailures", ${timeSql('failing_since')}, ${timeSql('last_failure_at')},
      ${timeSql('disabled_at')}, disabled_reason as "disabledReason", created_by as "createdBy", ${timeSql('created_at')},
      ${timeSql('updated_at')}, last_sequence::float8 as "lastSequence", ${timeSql('last_created_at')},
      (select coalesce(json_agg(json_build_object('id', s.id, 'keyId', s.key_id, 'sealed', encode(s.sealed, 'hex'),
          'createdAt', s.created_at, 'expiresAt', s.expires_at)), '[]')
        from webhooks.secrets s where s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > now())) as secrets
    from webhooks.endpoints e join webhooks.lanes on endpoint_id = id where ${OF_WORKSPACE} order by id`,
    [workspaceId],
  );
  return rows;
}

/** Where a page begins: in the retries of an endpoint or in its first attempts, after a delivery. */
export interface DeliveryCursor {
  readonly endpointId: string;
  readonly kind: 'retries' | 'firsts';
  /** The time of a retry, the sequence of a first attempt, as PostgreSQL writes it; null: before the first. */
  readonly at: string | null;
  readonly id: string;
}

const ORDERS = {
  retries: {
    column: 'least(scheduled_at, manual_at)',
    type: 'timestamptz',
    first: '-infinity',
    which: 'attempt_count > 0',
  },
  firsts: { column: 'sequence', type: 'bigint', first: '-1', which: 'attempt_count = 0' },
} as const;
const BYTES_MAX = 1024 * 1024;

/** Pending deliveries in the order of their index: deliveries_first_idx and deliveries_retry_idx. */
async function readPending(
  pool: Pool,
  { endpointId, kind, at, id }: DeliveryCursor,
  limit: number,
): Promise<{ readonly deliveries: MovedDelivery[]; readonly next: DeliveryCursor | null }> {
  const { column, type, first, which } = ORDERS[kind];
  const { rows } = await pool.query<MovedDelivery & Record<'place' | 'found' | 'bytesBefore' | 'rank', string>>(
    `select * from (select *, count(*) over () as found,
        sum(octet_length(body)) over (order by rank, id) - octet_length(body) as "bytesBefore"
      from (select d.id, endpoint_id as "endpointId", event_id as "eventId", ${timeSql('event_at')}, event_type as "eventType", e.body,
          sequence::float8 as sequence, attempt_count as "attemptCount", scheduled_attempts as "scheduledAttempts",
          ${timeSql('scheduled_at')}, ${timeSql('manual_at')}, ${isoTimeSql('d.created_at', 'US')} as "createdAt",
          ${timeSql('last_attempt_at')}, last_status_code as "lastStatusCode", last_response_snippet as "lastResponseSnippet",
          last_error as "lastError", ${column} as rank, (${column})::text as place
        from (select * from webhooks.deliveries where endpoint_id = $1 and status = 'pending' and ${which}
          and (${column}, id) > ($2::${type}, $3::uuid) order by ${column}, id limit $4) d
          cross join lateral (select body from webhooks.events where id = d.event_id and created_at = d.event_at offset 0) e) page) sized
    where "bytesBefore" < ${BYTES_MAX} order by rank, id`,
    [endpointId, at ?? first, id, limit],
  );
  const last = rows.at(-1);
  const isLast = last === undefined || (rows.length < limit && rows.length === Number(last.found));
  return {
    deliveries: rows.map(({ place: _p, found: _f, bytesBefore: _b, rank: _r, ...delivery }) => delivery),
    next: isLast ? null : { endpointId, kind, at: last.place, id: last.id },
  };
}

/** The secrets of an endpoint, sealed with a key of this cell. */
export type NewMovedEndpoint = Omit<MovedEndpoint, 'secrets'> & {
  readonly secrets: readonly (SealedSecret & {
    readonly id: string;
    readonly createdAt: string;
    readonly expiresAt: string | null;
  })[];
};

/** A workspace that is not served here begins to be followed at the head: nothing that was copied becomes an event. */
const FOLLOW = `insert into webhooks.workspaces as w (workspace_id, owner_id, position)
  values ($1, coalesce(${ownerOf('$1')}, $2), ${HEAD})
  on conflict (workspace_id) do update set followed_at = now(), position = case
    when exists (select from webhooks.endpoints e where e.workspace_id = $1 and e.deleted_at is null and e.moving_at is null)
      then w.position else excluded.position end`;
/** Of an earlier time in this cell; they were moved away, so they are settled by now. */
const FORGET = `delete from webhooks.deliveries d using webhooks.endpoints e where d.endpoint_id = e.id and e.workspace_id = $1
  and e.deleted_at is not null and d.status = 'pending'`;
const ENDPOINT = `insert into webhooks.endpoints as e (id, workspace_id, url, description, event_types, enabled, since_position,
    has_succeeded, consecutive_failures, failing_since, last_failure_at, disabled_at, disabled_reason, created_by, created_at,
    updated_at, moving_at)
  select $2, $1, $3, $4, $5, $6, ${HEAD}, $7, $8, $9, $10, $11, $12, $13, $14, $15, now()
  on conflict (id) do update set url = excluded.url, description = excluded.description, event_types = excluded.event_types,
    enabled = excluded.enabled, since_position = excluded.since_position, has_succeeded = excluded.has_succeeded,
    consecutive_failures = excluded.consecutive_failures, failing_since = excluded.failing_since,
    last_failure_at = excluded.last_failure_at, disabled_at = excluded.disabled_at, disabled_reason = excluded.disabled_reason,
    created_by = excluded.created_by, created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = null,
    moving_at = now()
    where e.workspace_id = excluded.workspace_id and (e.deleted_at is not null or e.moving_at is not null)
  returning id`;
const LANE = `insert into webhooks.lanes as l (endpoint_id, last_sequence, last_created_at) values ($1, $2, $3)
  on conflict (endpoint_id) do update set last_sequence = greatest(l.last_sequence, excluded.last_sequence),
    last_created_at = greatest(l.last_created_at, excluded.last_created_at)`;
const SECRET = `insert into webhooks.secrets (id, endpoint_id, key_id, sealed, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update set key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at
    where secrets.endpoint_id = excluded.endpoint_id`;
const GIVEN = `json_to_recordset($1::json) as g(id uuid, "endpointId" uuid, "eventId" uuid, "eventAt" timestamptz, "eventType" text,
  body text, sequence bigint, "attemptCount" int, "scheduledAttempts" smallint, "scheduledAt" timestamptz, "manualAt" timestamptz,
  "createdAt" timestamptz, "lastAttemptAt" timestamptz, "lastStatusCode" smallint, "lastResponseSnippet" text, "lastError" text)`;
/** Only of endpoints that are not complete: a repeated put after that would be too late. */
const DELIVERIES = `with given as materialized (select g.* from ${GIVEN} join webhooks.endpoints e on e.id = g."endpointId"
    and e.workspace_id = $2 and e.moving_at is not null),
  kept as (insert into webhooks.events (id, created_at, workspace_id, type, body)
    select distinct on ("eventId") "eventId", "eventAt", $2::uuid, "eventType", body from given on conflict do nothing)
  insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, attempt_count, scheduled_attempts,
    scheduled_at, manual_at, created_at, last_attempt_at, last_status_code, last_response_snippet, last_error)
  select id, "endpointId", "eventId", "eventAt", "eventType", sequence, "attemptCount", "scheduledAttempts", "scheduledAt",
    "manualAt", "createdAt", "lastAttemptAt", "lastStatusCode", "lastResponseSnippet", "lastError" from given
  on conflict do nothing`;

interface MovedPart {
  readonly endpoints: readonly NewMovedEndpoint[];
  readonly deliveries: readonly MovedDelivery[];
  readonly isLast: boolean;
}

/** Returns the endpoints of the workspace; null when an id is that of another workspace. */
async function putEndpoints(
  pool: Pool,
  workspaceId: string,
  { endpoints, deliveries, isLast }: MovedPart,
): Promise<string[] | null> {
  return inTransaction(pool, async (client) => {
    await lockWorkspace(client, workspaceId);
    const [first] = endpoints;
    if (first !== undefined) {
      await client.query(FORGET, [workspaceId]);
      await client.query(FOLLOW, [workspaceId, first.createdBy]);
    }
    for (const endpoint of endpoints) await putEndpoint(client, workspaceId, endpoint);
    if (deliveries.length > 0) await client.query(DELIVERIES, [JSON.stringify(deliveries), workspaceId]);
    const ids = await idsOf(client, workspaceId);
    if (endpoints.some(({ id }) => !ids.includes(id.toLowerCase()))) return null;
    if (isLast) await resume(client, workspaceId);
    return ids;
  });
}

async function putEndpoint(client: PoolClient, workspaceId: string, endpoint: NewMovedEndpoint): Promise<void> {
  const { id, failingSince, lastFailureAt, disabledAt, disabledReason, createdBy, createdAt, updatedAt, secrets } =
    endpoint;
  const { rowCount } = await client.query(ENDPOINT, [
    workspaceId,
    id,
    endpoint.url,
    endpoint.description,
    endpoint.eventTypes,
    endpoint.enabled,
    endpoint.hasSucceeded,
    endpoint.consecutiveFailures,
    failingSince,
    lastFailureAt,
    disabledAt,
    disabledReason,
    createdBy,
    createdAt,
    updatedAt,
  ]);
  // It is complete, or of another workspace.
  if (rowCount === 0) return;
  await client.query(LANE, [id, endpoint.lastSequence, endpoint.lastCreatedAt]);
  for (const secret of secrets)
    await client.query(SECRET, [secret.id, id, secret.keyId, secret.sealed, secret.createdAt, secret.expiresAt]);
}

/** Attempts begin, or go on. Returns the endpoints. */
async function resumeEndpoints(pool: Pool, workspaceId: string): Promise<string[]> {
  return inTransaction(pool, async (client) => {
    await lockWorkspace(client, workspaceId);
    await resume(client, workspaceId);
    return idsOf(client, workspaceId);
  });
}

async function resume(client: PoolClient, workspaceId: string): Promise<void> {
  const sql = `update webhooks.endpoints set moving_at = null where ${OF_WORKSPACE} and moving_at is not null returning id`;
  const { rows } = await client.query<{ id: string }>(sql, [workspaceId]);
  if (rows.length > 0) await client.query(WAKE, [rows.map(({ id }) => id)]);
}

/** Whether this cell has the workspace, and not a copy of it. */
const IS_HERE = `exists (select from sync.workspaces where id = $1)
  and not exists (select from sync.workspace_moves where workspace_id = $1 and state <> 'moving')`;

/** Deletes those that are stopped, and all where the workspace is not, as if their owner did. Returns them. */
async function endEndpoints(pool: Pool, workspaceId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `with gone as (
      update webhooks.endpoints set deleted_at = now(), enabled = false, moving_at = null
      where ${OF_WORKSPACE} and (moving_at is not null or not (${IS_HERE})) returning id
    ), ${DELETE_OF_GONE} select id from gone`,
    [workspaceId],
  );
  return rows.map(({ id }) => id);
}

async function idsOf(client: PoolClient, workspaceId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from webhooks.endpoints where ${OF_WORKSPACE} order by id`,
    [workspaceId],
  );
  return rows.map(({ id }) => id);
}

async function lockWorkspace(client: PoolClient, workspaceId: string): Promise<void> {
  await client.query(lockWorkspaceSql('$1'), [workspaceId]);
}
