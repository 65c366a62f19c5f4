import type { Pool } from 'pg';
import type { Partition } from './partitions.ts';

/** Which entries of the log are kept. */
export interface Retention {
  /** An entry is kept at least this long, ... */
  readonly ageMs: number;
  /** ... or as long as no more than so many entries follow it in partitions that are full. */
  readonly entries?: number | undefined;
  /** No entry is deleted before this age: a client that loads a snapshot must be able to continue from it. */
  readonly youngestMs: number;
}

/** How long a floor has stood before the entries below it are deleted: until then, readers that saw the old floor have ended. */
export const FLOOR_AGE_MS_MIN = 30_000;

/**
 * The position up to which the log may be deleted: the end of the last of the leading partitions whose newest entry is old
 * enough. The partition that holds the head is never among them, so the last entry always stays and positions continue from it.
 * Keeps sync.log.retention.
 */
export async function findFloor(
  pool: Pool,
  partitions: readonly Partition[],
  head: bigint,
  { ageMs, entries, youngestMs }: Retention,
): Promise<bigint | null> {
  let found: bigint | null = null;
  const full = partitions.filter(({ to }) => to <= head);
  for (const [index, { from, to }] of full.entries()) {
    const isMany = entries !== undefined && (await haveMany(pool, full.slice(index + 1), entries));
    const { rows } = await pool.query<{ old: boolean }>(
      `select created_at <= now() - make_interval(secs => $3) as old from sync.sync_actions
       where sync_id >= $1 and sync_id < $2 order by sync_id desc limit 1`,
      [from.toString(), to.toString(), (isMany ? Math.min(youngestMs, ageMs) : ageMs) / 1000],
    );
    // A partition without entries is the gap before an epoch.
    if (rows[0]?.old === false) break;
    found = to - 1n;
  }
  return found;
}

/** Of partitions that are full, which do not change. */
const entriesOf = new WeakMap<Pool, Map<string, number>>();

/** Counted, because positions may have gaps. */
async function haveMany(pool: Pool, full: readonly Partition[], entries: number): Promise<boolean> {
  const known = entriesOf.getOrInsertComputed(pool, () => new Map());
  let found = 0;
  for (const { name } of full.toReversed()) {
    let count = known.get(name);
    if (count === undefined) {
      const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from sync.${name}`);
      known.set(name, (count = rows[0]?.count ?? 0));
    }
    if ((found += count) >= entries) return true;
  }
  return false;
}

/** How old the first entry of the log is, and its size on disk with its indexes. */
export async function measureLog(pool: Pool): Promise<{ readonly oldestSeconds: number; readonly bytes: number }> {
  const { rows } = await pool.query<{ age: number | null; bytes: string | null }>(
    `select (select extract(epoch from now() - created_at)::float8 from sync.sync_actions order by sync_id limit 1) as age,
       (select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'sync.sync_actions'::regclass) as bytes`,
  );
  return { oldestSeconds: Math.max(0, rows[0]?.age ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
}

/**
 * Moves the floor: from this commit on no reader may begin below it, and only later are the entries deleted, gains among them:
 * a cursor at the floor or above it is above those gains too. A late replica with a lower floor changes nothing.
 */
export async function raiseFloor(pool: Pool, to: bigint): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update sync.log_state set floor = $1, floor_moved_at = now() where floor < $1`,
    [to.toString()],
  );
  return rowCount === 1;
}

/** The partitions that no reader needs: they are below a floor that has stood for `ageMsMin`. */
export async function findTrimmed(
  pool: Pool,
  partitions: readonly Partition[],
  ageMsMin: number,
): Promise<Partition[]> {
  const { rows } = await pool.query<{ floor: string }>(
    `select floor::text from sync.log_state where floor_moved_at <= now() - make_interval(secs => $1)`,
    [ageMsMin / 1000],
  );
  const floor = BigInt(rows[0]?.floor ?? -1);
  return partitions.filter(({ to }) => to - 1n <= floor);
}
