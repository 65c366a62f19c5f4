import { readEntries, type Entry, type EntryRange, type Queryable } from '@wts/log';
import type { Standby } from './standby.ts';

/**
 * A page of entries, and the place up to which the log was trimmed by then. The epoch is that of the log in which the places
 * were learned.
 */
export type ReadPage = (
  range: EntryRange,
  epoch: string,
) => Promise<{ readonly entries: readonly Entry[]; readonly floor: bigint }>;

/**
 * Where pages are read: what a copy of the database has of them there, the rest from the primary. So the answer is the one
 * the primary alone would give, whatever the copy lacks, and reading far behind the head costs the primary nothing.
 *
 * Which groups are read and up to which place comes from the primary, see `GroupReader`: the copy never decides who sees
 * what, and an entry that it has does not change any more. A copy of another epoch may hold other entries at the same
 * places; it is passed over.
 *
 * Keeps sync.deltas.replica.
 */
export function pageReader(primary: Queryable, standby: Standby | null): ReadPage {
  return async (range, epoch) => {
    const { after, limit, upTo } = range;
    const copied = await standby?.read(async (pool) => {
      const page = await readEntries(pool, range);
      return page.epoch === epoch && page.upTo > after ? page : null;
    });
    if (!copied) return readEntries(primary, range);
    const missing = limit - copied.entries.length;
    if (missing === 0 || copied.upTo === upTo) return copied;
    const { entries, floor } = await readEntries(primary, { ...range, after: copied.upTo, limit: missing });
    return { entries: [...copied.entries, ...entries], floor };
  };
}
