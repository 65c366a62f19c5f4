import { PreparedStatement } from './prepared.ts';

/** The time by the clock of PostgreSQL, and the time zone of each workspace; the zone is null where the workspace does not exist yet. */
export const CALENDARS = new PreparedStatement(
  'uuid[]',
  `select id, time_zone as zone, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now
    from unnest($1) given(id) left join sync.workspaces using (id)`,
);
