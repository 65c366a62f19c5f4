import { isoTimeSql } from '@wts/log';
import { layoutOf, Task, Workspace, type Model } from '@wts/models';
import type { Pool } from 'pg';
import { isMoving } from '@wts/read-model';
import { PreparedStatement } from './prepared.ts';

/*
 * What the purge of the Trash reads, and its state. All times are compared by the clock of PostgreSQL.
 */

/** A record and when it was archived. Archived again since, it is another one for the purge. */
export interface ArchivedRecord {
  readonly id: string;
  readonly archivedAt: string;
}

/** Where a scan of archived tasks goes on. */
export interface ScanPosition {
  readonly archivedAt: string;
  readonly id: string;
}

export const SCAN_START: ScanPosition = { archivedAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

export interface ScannedTask extends ArchivedRecord {
  /** False: its workspace keeps it longer than the installation does. */
  readonly isExpired: boolean;
  /** Since when it may be deleted. */
  readonly overdueSeconds: number;
}

const ARCHIVED_AT = isoTimeSql('t.archived_at');
const KEPT_DAYS = 'greatest($1::int, coalesce(w.trash_retention_days, 0))';

/**
 * Tasks whose time in the Trash is over by the setting of the installation, the oldest first. Relies on index tasks (archived_at, id);
 * `offset 0` keeps PostgreSQL from joining the workspaces before the limit.
 */
const SCAN = `select t.id, ${ARCHIVED_AT} as "archivedAt",
    t.archived_at < now() - make_interval(days => ${KEPT_DAYS}) and not ${isMoving('t.workspace_id')} as "isExpired",
    extract(epoch from now() - t.archived_at - make_interval(days => ${KEPT_DAYS}))::float8 as "overdueSeconds"
  from (
    select id, archived_at, workspace_id from ${layoutOf(Task).table}
    where archived_at < now() - make_interval(days => $1::int) and (archived_at, id) > ($2::timestamptz, $3::uuid)
    order by archived_at, id limit $4 offset 0
  ) t left join ${layoutOf(Workspace).table} w on w.id = t.workspace_id
  order by t.archived_at, t.id`;

interface Scan {
  readonly days: number;
  readonly after: ScanPosition;
  readonly limit: number;
}

export async function scanTrash(pool: Pool, { days, after, limit }: Scan): Promise<ScannedTask[]> {
  return (await pool.query<ScannedTask>(SCAN, [days, after.archivedAt, after.id, limit])).rows;
}

/** How many tasks wait for the purge, up to a bound, and for how long the first of them. */
export async function countExpired(
  pool: Pool,
  { days, after, limit }: Scan,
): Promise<{ readonly count: number; readonly overdueSeconds: number }> {
  const { rows } = await pool.query<{ count: number; overdueSeconds: number }>(
    `select count(*)::int as count, coalesce(max(found."overdueSeconds"), 0) as "overdueSeconds" from (${SCAN}) found where found."isExpired"`,
    [days, after.archivedAt, after.id, limit],
  );
  return rows[0] ?? { count: 0, overdueSeconds: 0 };
}

/** How many of these records still exist. */
export async function countExisting(pool: Pool, model: Model, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from ${layoutOf(model).table} where id = any($1::uuid[])`,
    [ids],
  );
  return rows[0]?.count ?? 0;
}

/** Workspaces that were not restored in time. */
export async function findExpiredWorkspaces(pool: Pool, { days, after, limit }: Scan): Promise<ArchivedRecord[]> {
  const { rows } = await pool.query<ArchivedRecord>(
    `select t.id, ${ARCHIVED_AT} as "archivedAt" from ${layoutOf(Workspace).table} t
     where t.archived_at < now() - make_interval(days => $1) and (t.archived_at, t.id) > ($2::timestamptz, $3::uuid)
       and not ${isMoving('t.id')}
     order by t.archived_at, t.id limit $4`,
    [days, after.archivedAt, after.id, limit],
  );
  return rows;
}

/** Ends the transaction, to be tried again, when one of these workspaces is deleted. */
export const CHECK_KEPT = new PreparedStatement(
  'uuid[]',
  `select sync.insist(not exists (select from ${layoutOf(Workspace).table} where id = any($1) and archived_at is not null))`,
);

/**
 * Why a purge does not begin. `first`: none ran in this database before. `lowered`: records that the setting kept before would be
 * deleted. `clock`: more than a day is between two rounds, so the clock of the database is or was wrong, or no replica ran.
 */
export type PurgeDelay = 'first' | 'lowered' | 'clock';

export interface PurgeRound {
  /** What this round has found; it waits from now on. */
  readonly delay: PurgeDelay | null;
  /** Null: this round deletes. */
  readonly waitsUntil: Date | null;
  /** The setting of the round before. */
  readonly retentionDaysBefore: number | null;
}

/** How long a purge waits for each reason. */
export type DelaySeconds = Readonly<Record<PurgeDelay, number>>;

/**
 * Begins a round of the purge. 0 days: never. However the clock was changed, no round waits for more than a day. Keeps
 * trash.purge.delays.
 */
export async function beginRound(pool: Pool, retentionDays: number, delays: DelaySeconds): Promise<PurgeRound> {
  const { rows } = await pool.query<PurgeRound>(
    `with before as (select retention_days as days, last_round_at as at from sync.purge_state for update),
     found as (
       select before.days, case
         when before.days is null then 'first'
         when $1::int > 0 and (before.days = 0 or $1::int < before.days) then 'lowered'
         when now() not between before.at - interval '1 day' and before.at + interval '1 day' then 'clock'
       end as delay
       from (select) always left join before on true
     )
     insert into sync.purge_state as state (retention_days, last_round_at, waits_until)
     select $1::int, now(), now() + make_interval(secs => ($2::json ->> found.delay)::float8) from found
     on conflict (is_only_row) do update set retention_days = excluded.retention_days, last_round_at = now(),
       waits_until = greatest(
         case when state.waits_until is not null then least(state.waits_until, now() + interval '1 day') end, excluded.waits_until)
     returning (select delay from found) as delay, (select days from found) as "retentionDaysBefore",
       case when waits_until > now() then waits_until end as "waitsUntil"`,
    [retentionDays, JSON.stringify(delays)],
  );
  const [round] = rows;
  if (!round) throw new Error('sync.purge_state has no row');
  return round;
}
