import { HEAD, LOG_STATE } from '@wts/log';
import type { Pool } from 'pg';

/*
 * The one place that decides which positions the entries of a commit get. All that else reads a position relies on this alone: they
 * ascend, those of one commit are adjacent, and who sees one sees every position below it. Nothing relies on dense positions: between
 * two commits there may be a gap of any size, as at the beginning of an epoch, or with positions made of time and place. Chunks
 * say what they follow (`prev`).
 */
export const POSITIONS = {
  /**
   * The lock of the log: an empty table, because only who may write a table may lock it, and every role may take any advisory lock. Of
   * the modes that exclude each other this is the weakest: it does not wait for readers, and no other backend has to give up locks
   * that it holds without the lock manager. Nothing is written, so there is neither WAL nor a row that long snapshots make
   * expensive. Keeps never.locks.
   */
  lock: 'lock table sync.log_lock in share update exclusive mode',
  /**
   * Under the lock, the last position (`head`), the one after which the next commit begins (`base`), and the epoch. They are the same
   * unless `gap_max` is set, which tests do to find what relies on dense positions. `has_moves`: see `append`.
   */
  next: `select head, head + floor(random() * (gap_max + 1))::bigint as base, epoch, has_moves
    from (select ${HEAD} as head, gap_max, epoch, has_moves from ${LOG_STATE}) state`,
} as const;

/** So many of the newest entries show how far apart positions are. */
const MEASURED_ENTRIES = 1_000;

/** How many positions there are for each entry of late, one at least, without the gap before an epoch. Partitions are sized by it. */
export async function positionsPerEntry(pool: Pool): Promise<bigint> {
  const { rows } = await pool.query<{ each: string }>(
    `select greatest(1, ceil((max(sync_id) - min(sync_id)) / greatest(1, count(*) - 1)::numeric))::text as each
     from (select sync_id from sync.sync_actions where sync_id > (select began_at from sync.log_state)
       order by sync_actions.sync_id desc limit ${MEASURED_ENTRIES}) newest`,
  );
  return BigInt(rows[0]?.each ?? 1);
}
