import { Prepared } from './prepared.ts';

/** The groups that see each of these people. */
export const AUDIENCES = new Prepared(
  'uuid[]',
  'select user_id, group_id from sync.user_audiences where user_id = any($1) order by user_id, group_id',
);

export const JOIN_AUDIENCE = new Prepared(
  'uuid[], uuid[]',
  `insert into sync.user_audiences (user_id, group_id) select * from unnest($1, $2) on conflict do nothing`,
);
