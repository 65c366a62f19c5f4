import { fromJsonList, PreparedStatement } from './prepared.ts';

/** The groups that see each of these people, divided by spaces: as they are, and as they were when they left. */
export const AUDIENCES = new PreparedStatement(
  'uuid[]',
  `select id, array_to_string(array(select group_id from sync.user_audiences where user_id = id order by group_id), ' ') as live,
      array_to_string(array(select group_id from sync.frozen_people where user_id = id order by group_id), ' ') as frozen
    from unnest($1) as id`,
);

export const JOIN_AUDIENCE = [
  `insert into sync.user_audiences (user_id, group_id) select * from unnest($1, $2) on conflict do nothing`,
  `delete from sync.frozen_people f using unnest($1, $2) as s(user_id, group_id) where f.user_id = s.user_id and f.group_id = s.group_id`,
].map((text) => new PreparedStatement('uuid[], uuid[]', text));

/** Keeps what a workspace sees of a person who leaves it, without the e-mail address. The record is passed as text. */
export const FREEZE_AUDIENCE = new PreparedStatement(
  'uuid[], uuid[], text',
  `with frozen as (
    insert into sync.frozen_people (user_id, group_id, record)
      select s.user_id, s.group_id, s.record from unnest($1, $2, ${fromJsonList('$3')}) as s(user_id, group_id, record)
      on conflict (user_id, group_id) do update set record = excluded.record, frozen_at = excluded.frozen_at
  ) delete from sync.user_audiences a using unnest($1, $2) as s(user_id, group_id) where a.user_id = s.user_id and a.group_id = s.group_id`,
);
