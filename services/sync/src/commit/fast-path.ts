import type { Pool } from 'pg';
import { Pipeline } from '../store/pipeline.ts';
import type { Replays } from '../store/replays.ts';
import { CommitCache } from './cache.ts';
import { decideBatch, type BatchUnits } from './decide-batch.ts';
import type { BatchOptions } from './commit-batch.ts';
import type { Need } from './need.ts';
import { writeBatch, type BatchResult, type Ready } from './write.ts';

/**
 * The fast path of a commit. A batch that only makes records is decided from the cache (`cache.ts`) without reading, and is
 * sent in a single message, on one connection and behind the batch before it (`store/pipeline.ts`). The counters that a
 * batch reads are not locked before it writes, so two batches may overlap. The transaction checks everything that a decision
 * took from the cache, so the fast path changes what a commit costs and not what it does.
 *
 * Turned off, every batch reads and locks what it needs, and the next batch starts when it has ended.
 * infra/decisions/0008-fast-path.md says what it gains.
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

  /** What a batch may use now; null when the fast path is off, or was in conflict a moment ago. */
  get cache(): CommitCache | null {
    return this.#isOn && this.#cache.isUsable ? this.#cache : null;
  }

  /** Does not use the cache for a while, because another replica outdates it. */
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
      onSent: (world) => {
        isSent = true;
        this.#cache.keepNumbers(world.newNumbers());
        options.onSent(world);
      },
    };
    // Beside a batch that reads counters, this one would take the numbers which that batch is about to take.
    const ready = this.#readingCounters === 0 && this.#pipeline.hasRoom ? decideFromCache(batch, watched) : null;
    const isReading = !ready && options.needs.some(({ kind }) => kind === 'counter');
    if (isReading) this.#readingCounters += 1;
    try {
      return ready
        ? await this.#pipeline.run((client) => writeBatch(client, batch.units, ready, watched.onSent))
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
 * Without reading anything; null when that is not possible: what is changed or deleted has to be locked, and a refusal has to
 * rest on what is in the database now.
 */
function decideFromCache(batch: BatchUnits, { needs, cache, room, refused }: BatchOptions): Ready | null {
  if (!cache || !batch.units.every(({ mutations }) => mutations.every(({ action }) => action === 'INSERT')))
    return null;
  const world = cache.worldOf(needs);
  if (!world) return null;
  const now = new Date().toISOString();
  const question = { ...batch, replays: NO_REPLAYS, now, room, isLastRound: false, refused };
  const { decided, missing } = decideBatch(world, question);
  if (missing.length > 0 || !decided.every(({ kind }) => kind === 'applied' || kind === 'same')) return null;
  // Only the index that takes an id with its record checks that the id is free.
  const mayBeTaken = (need: Need): boolean =>
    (need.kind === 'taken' || need.kind === 'used') && !world.makes(need.model, need.id);
  if (needs.some(mayBeTaken)) return null;
  return { world, decided, hasBegun: false, now };
}
