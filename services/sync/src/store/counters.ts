import { PreparedStatement, preparedByKey } from './prepared.ts';

/** The last task number of each workspace. `hold` locks the counter: no other transaction numbers tasks until commit. */
export type CounterLock = 'look' | 'hold';

export const SELECT_COUNTERS = preparedByKey(
  (lock: CounterLock) =>
    new PreparedStatement(
      'uuid[]',
      `select workspace_id as id, last_number from sync.task_counters where workspace_id = any($1) order by workspace_id${lock === 'hold' ? ' for update' : ''}`,
    ),
);

export const INSERT_COUNTERS = new PreparedStatement(
  'uuid[], integer[]',
  `insert into sync.task_counters as c (workspace_id, last_number) select * from unnest($1, $2)
    on conflict (workspace_id) do update set last_number = excluded.last_number`,
);

/** Waits for the batch that numbered tasks before, and ends the transaction unless its last number is the one that was read or cached. */
export const ADVANCE_COUNTERS = new PreparedStatement(
  'uuid[], integer[], integer[]',
  `with counted as (
    update sync.task_counters c set last_number = c.last_number + s.next - s.last
      from unnest($1, $2, $3) as s(id, last, next) where c.workspace_id = s.id returning c.last_number = s.next as holds
  ) select sync.insist(count(*) = cardinality($1) and bool_and(holds)) from counted`,
);
