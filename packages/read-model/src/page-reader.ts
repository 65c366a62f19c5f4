import { readEntries, type Entry, type EntryRange, type Queryable } from '@wts/log';
import type { Standby } from './standby.ts';
import type { Visibility } from './visibility.ts';

/**
 * Reads a page of entries, and the position up to which the log was trimmed. `epoch` is the epoch of the range's positions.
 */
export type ReadPage = (range: EntryRange, epoch: string) => Promise<ReadEntries>;

interface ReadEntries {
  readonly entries: readonly Entry[];
  readonly floor: bigint;
}

/** The first page after a cursor, and what its reader may see at the head. */
export interface FirstPage {
  readonly visibility: Visibility;
  readonly page: ReadEntries;
}

/**
 * Reads pages from a database replica as far as it has them, and the rest from the primary. The result is the same as of the
 * primary alone, and reading far behind the head puts no load on the primary.
 *
 * The groups and the end of the range come from the primary (`GroupReader`), so the replica never decides who sees what, and a
 * committed entry does not change. A replica of another epoch may have other entries at the same positions; it is skipped.
 *
 * Keeps sync.deltas.replica.
 */
export function pageReader(primary: Queryable, standby: Standby | null): ReadPage {
  return async (range, epoch) => {
    const { after, limit, upTo } = range;
    const replicated = await standby?.read(async (pool) => {
      const page = await readEntries(pool, range);
      return page.epoch === epoch && page.upTo > after ? page : null;
    });
    if (!replicated) return readEntries(primary, range);
    const missing = limit - replicated.entries.length;
    if (missing === 0 || replicated.upTo === upTo) return replicated;
    const { entries, floor } = await readEntries(primary, { ...range, after: replicated.upTo, limit: missing });
    return { entries: [...replicated.entries, ...entries], floor };
  };
}
