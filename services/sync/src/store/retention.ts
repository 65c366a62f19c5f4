import type { Pool } from 'pg';
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
 * Moves the floor: from this commit on nobody may begin below it, and only later the entries go. Gains go with them: what
 * follows a cursor at the floor or behind it follows those gains too. A replica that slept and comes late with a lower
 * floor changes nothing.
 */
export async function raiseFloor(pool: Pool, to: bigint): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update sync.log_state set floor = $1, floor_moved_at = now() where floor < $1`,
    [to.toString()],
  );
  return rowCount === 1;
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
