import { PreparedStatement } from './prepared.ts';

/** Adds to what people lost in workspaces. The time is that of the database, like the times of invitations. */
export const RECORD_LOSSES = new PreparedStatement(
  'uuid[], uuid[], integer[], boolean[]',
  `insert into sync.membership_losses as l (workspace_id, user_id, ended, taken_at)
    select s.w, s.u, s.n, case when s.t then clock_timestamp() end from unnest($1, $2, $3, $4) as s(w, u, n, t)
    on conflict (workspace_id, user_id) do update
      set ended = l.ended + excluded.ended, taken_at = coalesce(excluded.taken_at, l.taken_at)`,
);
