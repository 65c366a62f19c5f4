import { isoTimeSql } from '@wts/log';
import { PreparedStatement } from './prepared.ts';

/** The time by the clock of PostgreSQL, and the time zone of each workspace; the zone is null where the workspace does not exist yet. */
export const CALENDARS = new PreparedStatement(
  'uuid[]',
  `select id, time_zone as zone, ${isoTimeSql('now()')} as now
    from unnest($1) given(id) left join sync.workspaces using (id)`,
);

/** How many of the newest tasks of each series are open. Relies on `tasks_repeat_template_id_created_at_id_idx`. */
export const OPEN_TASKS = new PreparedStatement(
  'uuid[], int',
  `select series.id, (select count(*) filter (where completed_at is null and archived_at is null)::int from (
      select completed_at, archived_at from sync.tasks where repeat_template_id = series.id
        order by created_at desc, id desc limit $2) newest) as open
    from unnest($1) series(id)`,
);
