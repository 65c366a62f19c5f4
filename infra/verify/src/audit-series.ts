import { calendarAt, nextDueDay, type Occurrence } from '@wts/models/repeat';
import type { ClientBase } from 'pg';
import { FINDINGS_MAX, type AuditFinding } from './finding.ts';

/** An occurrence may be made so long after its day began: when many series are due together, they are made in batches. */
const MADE_WITHIN_MINUTES = 15;

/**
 * Audits the series of repeating tasks, in the transaction of the caller:
 *
 * - *series-once*: no series has two tasks that were made for the same day, unless the newest one was moved back before that day
 *   meanwhile. A series that counts from completion may have them: it can be completed twice on one day;
 * - *series-complete*: the occurrence of a day that has come is made.
 */
export async function auditSeries(client: ClientBase): Promise<{ series: number; findings: AuditFinding[] }> {
  const { series, missing } = await missingOccurrences(client);
  return { series, findings: [...(await doubledOccurrences(client)), ...missing] };
}

/** A task moved between groups is inserted again, so only an entry of the time at which the task was created made it. */
async function doubledOccurrences(client: ClientBase): Promise<AuditFinding[]> {
  const { rows } = await client.query<{ series: string; day: string; first: string; second: string }>(
    `with made as materialized (
       select sync_id, model_id, workspace_id, record ->> 'repeatTemplateId' as series,
         coalesce(record ->> 'startDate', record ->> 'deadlineAt') as day
       from sync.sync_actions
       where model = 'Task' and action = 'INSERT' and record ->> 'repeatTemplateId' is not null
         and record ->> 'repeatFrom' = 'date' and (record ->> 'createdAt')::timestamptz = created_at
     ), doubled as (
       select *, lag(sync_id) over by_day as before, lag(model_id) over by_day as first
       from made window by_day as (partition by workspace_id, series, day order by sync_id)
     )
     select series, day, first::text, model_id::text as second from doubled d
     where first <> model_id and not exists (
       select from sync.sync_actions u
       where u.model = 'Task' and u.sync_id > d.before and u.sync_id < d.sync_id and u.action = 'UPDATE'
         and u.record ->> 'repeatTemplateId' = d.series and u.record ->> 'repeatRule' is not null
         and coalesce(u.record ->> 'startDate', u.record ->> 'deadlineAt') < d.day)
     limit ${FINDINGS_MAX}`,
  );
  return rows.map(({ series, day, first, second }) => ({
    guarantee: 'series-once',
    seen: `series ${series} has two tasks for ${day}: ${first} and ${second}`,
  }));
}

interface NewestRow extends Omit<Occurrence, 'from'> {
  readonly id: string;
  readonly time_zone: string;
  /** Of a series that waits: too many of its tasks are open, or the next one could not be made on completion. */
  readonly waits_for: string | null;
  readonly at: Date;
}

async function missingOccurrences(client: ClientBase): Promise<{ series: number; missing: AuditFinding[] }> {
  const { rows } = await client.query<NewestRow>(
    `select t.id::text, w.time_zone, t.repeat_rule as rule, t.repeat_anchor::text as anchor, t.repeat_index as index,
       t.start_date::text as "startDate", t.deadline_at::text as "deadlineAt",
       case when t.repeat_waiting or t.completed_at is not null then t.repeat_next_date::text end as waits_for,
       now() - interval '${MADE_WITHIN_MINUTES} minutes' as at
     from sync.tasks t join sync.workspaces w on w.id = t.workspace_id left join sync.projects p on p.id = t.project_id
     where t.repeat_rule is not null and (t.repeat_next_date is not null or t.repeat_from = 'date' and t.completed_at is null)
       and t.repeat_error is null and t.archived_at is null and p.archived_at is null and w.archived_at is null`,
  );
  const missing = rows.flatMap(
    ({ id, time_zone: timeZone, waits_for: waitsFor, at, ...occurrence }): AuditFinding[] => {
      const calendar = calendarAt(at.toISOString(), timeZone);
      const day = waitsFor ?? nextDueDay({ ...occurrence, from: 'date' }, calendar);
      if (day === null || day > calendar.today) return [];
      return [{ guarantee: 'series-complete', seen: `the task after ${id}, for ${day}, was not made` }];
    },
  );
  return { series: rows.length, missing: missing.slice(0, FINDINGS_MAX) };
}
