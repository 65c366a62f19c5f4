import { HEAD, LOG_STATE } from '@wts/log';
import { hasRoleSql } from '@wts/read-model';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { Pool } from 'pg';

/** A workspace with an enabled endpoint. Its work takes the turns of its owner. */
export interface FollowedWorkspace {
  readonly workspaceId: string;
  readonly ownerId: string;
}

const FOLLOWED = `w.workspace_id as "workspaceId", w.owner_id as "ownerId"`;
export const IS_SERVED = 'enabled and deleted_at is null';
const hasEndpoints = (workspaceId: string): string =>
  `exists (select from webhooks.endpoints e where e.workspace_id = ${workspaceId} and ${IS_SERVED})`;
/** Rests on the index sync_actions (group_id, sync_id). */
const HAS_ENTRIES = `exists (select from sync.sync_actions a where a.group_id = w.workspace_id and a.sync_id > w.position)`;
/** The oldest owner; the person who created the first endpoint when there is none any more. */
export const ownerOf = (workspaceId: string): string => `(select user_id from sync.workspace_members m
    where m.workspace_id = ${workspaceId} and ${hasRoleSql('m', 'owner')} order by created_at, id limit 1)`;

/**
 * Before an endpoint is created or enabled, in its transaction and under the lock of the workspace. A workspace without an
 * enabled endpoint was not followed, so its cursor begins at the head.
 */
export async function followWorkspace(trx: Knex, workspaceId: string, createdBy: string): Promise<void> {
  await rows(
    trx,
    `insert into webhooks.workspaces as w (workspace_id, owner_id, position)
      values (:workspaceId, coalesce(${ownerOf('cast(:workspaceId as uuid)')}, :createdBy), ${HEAD})
      on conflict (workspace_id) do update set owner_id = excluded.owner_id, followed_at = now(),
        position = case when ${hasEndpoints('w.workspace_id')} then w.position else excluded.position end`,
    { workspaceId, createdBy },
  );
}

/** Adds workspaces that a version of before did not, and brings cursors beyond the end of the log back to it. */
export async function adoptWorkspaces(pool: Pool): Promise<void> {
  await pool.query(
    `insert into webhooks.workspaces (workspace_id, owner_id, position)
    select workspace_id, (array_agg(created_by order by created_at))[1],
      least(${HEAD}, coalesce((select position from webhooks.cursor), min(since_position)))
    from webhooks.endpoints where deleted_at is null group by workspace_id on conflict do nothing`,
  );
  await pool.query(
    `update webhooks.workspaces set position = head.at from (select ${HEAD} as at) head where position > head.at`,
  );
}

/** Those of the workspaces, or all, that have an enabled endpoint. */
export async function readFollowed(pool: Pool, workspaceIds: readonly string[] | null): Promise<FollowedWorkspace[]> {
  const { rows: followed } = await pool.query<FollowedWorkspace>({
    name: 'read_followed',
    text: `select ${FOLLOWED} from webhooks.workspaces w
      where ($1::uuid[] is null or w.workspace_id = any($1)) and ${hasEndpoints('w.workspace_id')}`,
    values: [workspaceIds],
  });
  return followed;
}

/** Those with an enabled endpoint and entries behind their cursor. */
export async function readBehind(pool: Pool): Promise<FollowedWorkspace[]> {
  const { rows: behind } = await pool.query<FollowedWorkspace>({
    name: 'read_behind',
    text: `select ${FOLLOWED} from webhooks.workspaces w where ${HAS_ENTRIES} and ${hasEndpoints('w.workspace_id')}`,
  });
  return behind;
}

/** After a change of members. */
export async function updateOwners(pool: Pool, workspaceIds: readonly string[]): Promise<void> {
  await pool.query(
    `update webhooks.workspaces w set owner_id = coalesce(${ownerOf('w.workspace_id')}, w.owner_id)
    where workspace_id = any($1::uuid[])`,
    [workspaceIds],
  );
}

/** A cursor without work may be so far behind the head. */
const IDLE_POSITIONS_MAX = 10_000;

/**
 * Moves the cursors of workspaces that have nothing to enqueue, so that one behind the floor of the log means lost entries,
 * and forgets workspaces without endpoints. `followed_at` keeps the row of a workspace that gets an endpoint at the same
 * time: PostgreSQL compares it once more in the newest version of a row.
 */
export async function moveIdleCursors(pool: Pool): Promise<void> {
  await pool.query(
    `update webhooks.workspaces w set position = head.at from (select ${HEAD} as at) head
    where position < head.at - ${IDLE_POSITIONS_MAX} and followed_at < now() - interval '1 hour'
      and not (${HAS_ENTRIES} and ${hasEndpoints('w.workspace_id')})
      and (position >= (select floor from ${LOG_STATE}) or not ${hasEndpoints('w.workspace_id')})`,
  );
  await pool.query(
    `delete from webhooks.workspaces w where followed_at < now() - interval '1 hour'
      and not exists (select from webhooks.endpoints e where e.workspace_id = w.workspace_id and deleted_at is null)`,
  );
}
