import { LRUCache } from 'lru-cache';
import type { Row } from '../store/rows.ts';
import type { BatchState } from '../decision/batch-state.ts';
import { relationKey, type Lookup } from '../decision/lookup.ts';
import { ReadSet, type LastNumbers } from '../decision/read-set.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** After a conflict the cache is not used for this time, which doubles with each further conflict. */
const BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 10_000;
/** The backoff halves after this many batches from the cache without a conflict. */
const BACKOFF_HALVES_AFTER = 8;

/**
 * What this process read and wrote in its last batches: who is in which workspaces, and the last task number of each
 * workspace.
 *
 * An entry may be outdated at any time, because other replicas write too. The transaction that writes therefore checks,
 * under lock, each entry that a decision used: memberships as rows that must be unchanged (`ChangeSet.assumeUnchanged`), numbers by their
 * counter, that an id or a transaction is new by their unique indexes. A check that fails is a conflict: the batch is read
 * and decided again without the cache. Keeps never.shown-outside and sync.mutate.task-number.
 */
export class CommitCache {
  readonly #related = new LRUCache<string, readonly Row[]>({ max: SYNC_LIMITS.commitMemoryEntriesMax });
  readonly #numbers = new LRUCache<string, number>({ max: SYNC_LIMITS.commitMemoryEntriesMax });
  #backoffUntil = 0;
  #backoffMs = BACKOFF_MS;

  /** False for a while after a conflict, because two replicas that write to one workspace cause them with every batch. */
  get isUsable(): boolean {
    return performance.now() >= this.#backoffUntil;
  }

  /** The results of these lookups; null when one of them is not cached, or needs a lock. */
  read(lookups: readonly Lookup[]): ReadSet | null {
    const reads = new ReadSet();
    for (const lookup of lookups) {
      if (lookup.kind === 'id-holder') reads.addFact(lookup, 'nothing');
      else if (lookup.kind === 'used-group') reads.addFact(lookup, false);
      else if (lookup.kind === 'related' && lookup.lock === 'look') {
        const rows = this.#related.peek(relationKey(lookup));
        if (!rows) return null;
        reads.addRelated(lookup, rows, 'look');
      } else if (lookup.kind === 'counter') {
        const last = this.#numbers.peek(lookup.workspaceId);
        if (last === undefined) return null;
        reads.addFact(lookup, last);
      } else return null;
    }
    return reads;
  }

  /** The last task number that was taken in each workspace, also by batches that are still under way. */
  get numbers(): LastNumbers {
    return this.#numbers;
  }

  /** Keeps the memberships that a batch read without a lock, with its changes. */
  addRelated(lookups: readonly Lookup[], { reads, changes }: BatchState): void {
    for (const lookup of lookups) {
      if (lookup.kind !== 'related' || lookup.lock !== 'look' || lookup.and || reads.isExcess(lookup)) continue;
      const rows = changes.applyToRelated(lookup, reads.related(lookup, 'look'));
      if (rows.length <= SYNC_LIMITS.commitMemoryRowsMax) this.#related.set(relationKey(lookup), rows);
    }
  }

  addNumbers(numbers: ReadonlyMap<string, number>): void {
    for (const [workspaceId, last] of numbers) this.#numbers.set(workspaceId, last);
  }

  /** Called when a batch that was sent has failed: the cache holds its changes. */
  clear(): void {
    this.#related.clear();
    this.#numbers.clear();
  }

  onSuccess(): void {
    this.#backoffMs = Math.max(this.#backoffMs / 2 ** (1 / BACKOFF_HALVES_AFTER), BACKOFF_MS);
  }

  onConflict(): void {
    this.#backoffUntil = performance.now() + this.#backoffMs;
    this.#backoffMs = Math.min(this.#backoffMs * 2, BACKOFF_MS_MAX);
  }
}
