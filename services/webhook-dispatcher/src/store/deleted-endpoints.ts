import type { Pool } from 'pg';

/** So that no statement holds its locks for long. */
const CHUNK_ROWS = 5_000;
/** An attempt in progress, or a step of the enqueuing, may still have read the endpoint. */
const REST_S = 60;

/** Parts of a statement: the lanes and the secrets of the endpoints that its part `gone` deletes. */
export const DELETE_OF_GONE = `gone_lane as (
    delete from webhooks.lanes using gone where endpoint_id = gone.id
  ), gone_secret as (
    delete from webhooks.secrets using gone where endpoint_id = gone.id
  )`;

/**
 * Deletes disabled endpoints of workspaces that do not exist any more; returns them. A workspace without an enabled endpoint is not
 * followed, so nothing reads in the log that it was deleted. One that moves has its endpoints from its first part.
 */
export async function deleteOfGoneWorkspaces(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `with gone as (
      update webhooks.endpoints e set deleted_at = now(), updated_at = now()
      where deleted_at is null and not enabled and moving_at is null and updated_at < now() - interval '1 hour'
        and not exists (select from sync.workspaces w where w.id = e.workspace_id)
        and not exists (select from sync.workspace_moves m where m.workspace_id = e.workspace_id)
      returning id
    ), ${DELETE_OF_GONE} select id from gone`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes deleted endpoints without history, some in each statement; returns how many. So the history of one delays no other.
 * Rests on endpoints_deleted_at_idx and deliveries_created_at_idx.
 */
export async function removeWithoutHistory(pool: Pool, restSeconds = REST_S): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from webhooks.endpoints where id in (
      select id from webhooks.endpoints e where deleted_at <= now() - make_interval(secs => $1)
        and not exists (select from webhooks.deliveries d where d.endpoint_id = e.id)
      limit $2
    )`,
    [restSeconds, CHUNK_ROWS],
  );
  return rowCount ?? 0;
}

/** Endpoints that were deleted and still have their history, the longest deleted first. Rests on endpoints_deleted_at_idx. */
export async function listDeleted(pool: Pool, restSeconds = REST_S): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from webhooks.endpoints where deleted_at <= now() - make_interval(secs => $1) order by deleted_at limit $2`,
    [restSeconds, CHUNK_ROWS],
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes some of the history of a deleted endpoint; false when there was nothing left of it, and the endpoint is removed too.
 * The texts of its events stay for their days, because other endpoints share them. Rests on deliveries_created_at_idx.
 */
export async function removeHistory(pool: Pool, endpointId: string, chunkRows = CHUNK_ROWS): Promise<boolean> {
  const { rows } = await pool.query<{ count: number }>(
    `with chunk as materialized (
      select id, event_at from webhooks.deliveries where endpoint_id = $1
        -- Not of one that has come back from another cell.
        and exists (select from webhooks.endpoints where id = $1 and deleted_at is not null) limit $2
    ), gone_attempts as (
      delete from webhooks.attempts using chunk where delivery_id = chunk.id and attempts.event_at = chunk.event_at
    ), gone as (
      delete from webhooks.deliveries using chunk where deliveries.id = chunk.id and deliveries.event_at = chunk.event_at
      returning 1
    )
    select count(*)::int as count from gone`,
    [endpointId, chunkRows],
  );
  if (rows[0]?.count !== 0) return true;
  await pool.query('delete from webhooks.endpoints where id = $1 and deleted_at is not null', [endpointId]);
  return false;
}
