import type { Pool, QueryResult } from 'pg';
import { IS_MOVE, MOVED_GROUP } from './entries.ts';
import type { Partition } from './partitions.ts';

/** What of the log is kept. */
export interface Retention {
  /** An entry is kept at least this long ... */
  readonly ageMs: number;
  /** ... or while no more than so many follow it. */
  readonly entries?: number | undefined;
  /** But none goes before this age: a client that loads a snapshot must be able to go on from it. */
  readonly youngestMs: number;
}

/** Whoever read the log with the old floor in sight must be done when the entries below the new one go. */
export const FLOOR_RESTS_MS = 30_000;

/**
 * The place up to which the log may go: the end of the last partition, of those from the beginning on, whose newest entry
 * is old enough. The partition that holds the head is never among them, so the last entry always stays and places go on
 * from it. Keeps sync.log.retention.
 */
export async function findFloor(
  pool: Pool,
  partitions: readonly Partition[],
  head: bigint,
  { ageMs, entries, youngestMs }: Retention,
): Promise<bigint | null> {
  let found: bigint | null = null;
  for (const { from, to } of partitions) {
    if (to > head) break;
    const isMany = entries !== undefined && head - (to - 1n) >= BigInt(entries);
    const { rows } = await pool.query<{ old: boolean }>(
      `select created_at <= now() - make_interval(secs => $3) as old from sync.sync_actions
       where sync_id >= $1 and sync_id < $2 order by sync_id desc limit 1`,
      [from.toString(), to.toString(), (isMany ? Math.min(youngestMs, ageMs) : ageMs) / 1000],
    );
    // Nothing in it: the gap before an epoch.
    if (rows[0]?.old === false) break;
    found = to - 1n;
  }
  return found;
}

/**
 * Moves the floor: from this commit on nobody may begin below it, and only later the entries go. Who had lost a group
 * below the floor is kept, because `lostGroupsSql` has to know. A replica that slept and comes late with a lower floor
 * changes nothing.
 */
export async function raiseFloor(pool: Pool, to: bigint): Promise<boolean> {
  // One message is one transaction. Its first statement holds back whoever else would raise the floor.
  const results = (await pool.query(
    `select floor from sync.log_state for update;
     with move as (
       select group_id as user_id, ${MOVED_GROUP}::uuid as moved, action, sync_id from sync.sync_actions
       where sync_id > (select floor from sync.log_state) and sync_id <= ${to} and ${IS_MOVE} and group_id::text = record->>'userId'
     ),
     latest as materialized (select distinct on (user_id, moved) * from move order by user_id, moved, sync_id desc),
     regained as (
       delete from sync.trimmed_losses t using latest l where l.action = 'INSERT' and t.user_id = l.user_id and t.group_id = l.moved
     )
     insert into sync.trimmed_losses (user_id, group_id, sync_id)
     select user_id, moved, sync_id from latest where action = 'DELETE'
     on conflict (user_id, group_id) do update set sync_id = excluded.sync_id;
     update sync.log_state set floor = ${to}, floor_moved_at = now() where floor < ${to}`,
  )) as unknown as QueryResult[];
  return results.at(-1)?.rowCount === 1;
}

/** The partitions nobody can need any more: they lie below a floor that has stood for a while. */
export async function findTrimmed(pool: Pool, partitions: readonly Partition[], restsMs: number): Promise<Partition[]> {
  const { rows } = await pool.query<{ floor: string }>(
    `select floor::text from sync.log_state where floor_moved_at <= now() - make_interval(secs => $1)`,
    [restsMs / 1000],
  );
  const floor = BigInt(rows[0]?.floor ?? -1);
  return partitions.filter(({ to }) => to - 1n <= floor);
}
