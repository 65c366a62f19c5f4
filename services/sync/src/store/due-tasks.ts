import { isoTimeSql } from '@wts/log';
import type { Pool } from 'pg';
import { isMoving } from '@wts/read-model';

/** A task whose series has a next day. */
export interface DueRow {
  readonly id: string;
  readonly workspaceId: string;
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly zone: string;
}

/** The time by the clock of PostgreSQL, and the time zones of all workspaces. */
export async function readClock(pool: Pool): Promise<{ readonly now: string; readonly zones: readonly string[] }> {
  const { rows } = await pool.query<{ now: string; zones: string[] }>(
    `select ${isoTimeSql('now()')} as now,
       array(select distinct time_zone from sync.workspaces) as zones`,
  );
  const [clock] = rows;
  if (!clock) throw new Error('PostgreSQL returned no time');
  return clock;
}

const FOUND = `t.id, t.workspace_id as "workspaceId", t.repeat_next_date::text as day`;
/** The condition of `tasks_due_idx`, and that the project is not archived: its tasks go on when it is restored, like those of a workspace. */
const IS_DUE = `t.repeat_next_date is not null and t.archived_at is null and t.repeat_error is null
  and not exists (select from sync.projects p where p.id = t.project_id and p.archived_at is not null)
  and not ${isMoving('t.workspace_id')}`;

/** The tasks with a day until this one, after another one in the order of `tasks_due_idx`; null: from the first on. */
export async function findDueTasks(pool: Pool, until: string, after: DueRow | null, limit: number): Promise<DueRow[]> {
  const { rows } = await pool.query<DueRow>(
    `select ${FOUND}, w.time_zone as zone from sync.tasks t join sync.workspaces w on w.id = t.workspace_id and w.archived_at is null
      where ${IS_DUE} and t.repeat_next_date <= $1
        and (t.repeat_next_date, t.workspace_id, t.id) > ($2, $3, $4)
      order by t.repeat_next_date, t.workspace_id, t.id limit $5`,
    [until, ...(after ? [after.day, after.workspaceId, after.id] : ['-infinity', NIL, NIL]), limit],
  );
  return rows;
}

/**
 * The tasks with this day in workspaces of these zones. It begins with the workspaces, because on the day after that of most zones
 * nearly all tasks of the index are those of others.
 */
export async function findDueTasksOf(
  pool: Pool,
  { day, zones }: { readonly day: string; readonly zones: readonly string[] },
  after: DueRow | null,
  limit: number,
): Promise<DueRow[]> {
  const { rows } = await pool.query<DueRow>(
    `select found.*, w.time_zone as zone from sync.workspaces w cross join lateral (
        select ${FOUND} from sync.tasks t
          where ${IS_DUE} and t.repeat_next_date = $1 and t.workspace_id = w.id and (t.workspace_id, t.id) > ($3, $4)
          order by t.id limit $5
      ) found
      where w.time_zone = any($2) and w.archived_at is null and w.id >= $3 order by w.id, found.id limit $5`,
    [day, zones, after?.workspaceId ?? NIL, after?.id ?? NIL, limit],
  );
  return rows;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** How many of these tasks have no rule any more. */
export async function countMovedOn(pool: Pool, ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from sync.tasks where id = any($1) and repeat_rule is null',
    [ids],
  );
  return rows[0]?.count ?? 0;
}

/** The series that wait for people, and those that have failed. Relies on `tasks_repeat_stopped_idx`. */
export async function countStopped(pool: Pool): Promise<{ readonly waiting: number; readonly failed: number }> {
  const { rows } = await pool.query<{ waiting: number; failed: number }>(
    `select count(*) filter (where repeat_waiting)::int as waiting,
       count(*) filter (where repeat_error is not null)::int as failed
      from sync.tasks where repeat_waiting or repeat_error is not null`,
  );
  return rows[0] ?? { waiting: 0, failed: 0 };
}
