import { Prepared, statements } from './prepared.ts';

/** How far the tasks of each workspace are numbered. `hold`: nobody else numbers any until commit. */
export type CounterLock = 'look' | 'hold';

export const COUNTERS = statements(
  (lock: CounterLock) =>
    new Prepared(
      'uuid[]',
      `select workspace_id, last_number from sync.task_counters where workspace_id = any($1) order by workspace_id${lock === 'hold' ? ' for update' : ''}`,
    ),
);

export const COUNT = new Prepared(
  'uuid[], integer[]',
  `insert into sync.task_counters as c (workspace_id, last_number) select * from unnest($1, $2)
    on conflict (workspace_id) do update set last_number = excluded.last_number`,
);

/** Waits for the group that numbered tasks before, and insists that it went as far as was read or remembered. */
export const COUNT_ON = new Prepared(
  'uuid[], integer[], integer[]',
  `with counted as (
    update sync.task_counters c set last_number = c.last_number + s.next - s.last
      from unnest($1, $2, $3) as s(id, last, next) where c.workspace_id = s.id returning c.last_number = s.next as holds
  ) select sync.insist(count(*) = cardinality($1) and bool_and(holds)) from counted`,
);
