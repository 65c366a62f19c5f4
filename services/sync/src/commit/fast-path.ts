import type { Pool } from 'pg';
import { Pipeline } from '../store/pipeline.ts';
import type { Replays } from '../store/idempotency-keys.ts';
import { BatchState } from '../decision/batch-state.ts';
import { CommitCache } from './cache.ts';
import type { BatchOptions } from './commit-batch.ts';
import { decideBatch, type BatchUnits } from './decide-batch.ts';
import type { Lookup } from '../decision/lookup.ts';
import { writeBatch, type BatchResult, type DecidedBatch } from './write.ts';

/**
 * The fast path of a commit. A batch that only inserts records is decided from the cache (`cache.ts`) without reading, and is
 * sent in a single message, on one connection and right after the batch before it (`store/pipeline.ts`). The counters that a
 * batch reads are not locked before it writes, so two batches may overlap. The transaction checks everything that a decision
 * took from the cache, so the fast path changes what a commit costs and not what it does.
 *
 * Turned off, every batch reads and locks what it needs, and the next batch starts when it has ended.
 * infra/decisions/0008-fast-path.md has the measurements.
 */
export class FastPath {
  readonly #isOn: boolean;
  readonly #cache = new CommitCache();
  readonly #pipeline: Pipeline;
  /** Batches under way that read counters before they write. */
  #readingCounters = 0;

  constructor(pool: Pool, isOn: boolean) {
    this.#isOn = isOn;
    this.#pipeline = new Pipeline(pool);
  }

  /** The cache for the next batch; null when the fast path is off, or had a conflict a moment ago. */
  get cache(): CommitCache | null {
    return this.#isOn && this.#cache.isUsable ? this.#cache : null;
  }

  /** Stops using the cache for a while, because another replica changes the same workspaces. */
  backOff(): void {
    this.#cache.onConflict();
  }

  /** Commits a batch from the cache of its options where that is possible, and otherwise by `readAndCommit`. */
  async commit(
    batch: BatchUnits,
    options: BatchOptions,
    readAndCommit: (options: BatchOptions) => Promise<BatchResult>,
  ): Promise<BatchResult> {
    let isSent = false;
    const watched: BatchOptions = {
      ...options,
      onSent: (state) => {
        isSent = true;
        this.#cache.addNumbers(state.changes.numbers);
        options.onSent(state);
      },
    };
    // While another batch reads counters, this one would take the same numbers.
    const decided = this.#readingCounters === 0 && this.#pipeline.hasRoom ? decideFromCache(batch, watched) : null;
    const isReading = !decided && options.lookups.some(({ kind }) => kind === 'counter');
    if (isReading) this.#readingCounters += 1;
    try {
      return decided
        ? await this.#pipeline.run((client) => writeBatch(client, batch.units, decided, watched.onSent))
        : await readAndCommit(watched);
    } catch (error) {
      if (isSent) this.#cache.clear();
      throw error;
    } finally {
      if (isReading) this.#readingCounters -= 1;
    }
  }
}

const NO_REPLAYS: Replays = new Map();

/**
 * Decides a batch without reading. Returns null when that is not possible: a change or a deletion needs a lock on its record, and a
 * refusal needs the current rows of the database.
 */
function decideFromCache(batch: BatchUnits, options: BatchOptions): DecidedBatch | null {
  const { lookups, cache, limits, refusalCache } = options;
  if (!cache || !batch.units.every(({ mutations }) => mutations.every(({ action }) => action === 'INSERT')))
    return null;
  const reads = cache.read(lookups);
  if (!reads) return null;
  const state = new BatchState(reads, options);
  const input = { ...batch, replays: NO_REPLAYS, limits, isLastRound: false, refusalCache };
  const { decided, missing } = decideBatch(state, input);
  if (missing.length > 0 || !decided.every(({ kind }) => kind === 'applied' || kind === 'same')) return null;
  // The cache assumes that ids are free, and only the index that takes an id with its record checks that.
  const mayBeTaken = (lookup: Lookup): boolean =>
    (lookup.kind === 'id-holder' || lookup.kind === 'used-group') && !state.changes.isWritten(lookup.model, lookup.id);
  if (lookups.some(mayBeTaken)) return null;
  return { state, decided, hasBegun: false };
}
