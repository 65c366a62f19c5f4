import type { Batch, BatchKind } from './batch.ts';
import type { MayStart } from './waiting.ts';

/** A batch that takes longer than this, for a lock that others hold or for large records, does not hold up the others. */
const PATIENCE_MS = 50;
export const BATCHES_AT_ONCE_MAX = 4;
/** Of batches that are not common: the other places are for those that are. */
const APART_MAX = 2;
/** What a second batch carries at least; with fewer, 64 clients get a tenth less done. */
const BESIDE_MIN = 32;

/** What the rules of starting ask. */
export interface Situation {
  /** Mutations that wait. */
  readonly waiting: number;
  /** Without the fast path a batch locks the counters that it needs, and the next one would only wait for them. */
  readonly mayOverlap: boolean;
  hasOthers(person: string): boolean;
}

/**
 * Which batches are under way. A common batch goes at once when no other is; while one is, requests that arrive wait together
 * and leave as the next one. A second sets out beside one that is being written when it has enough to carry. Small ones do
 * not: each costs PostgreSQL and this process about as much as ten mutations, so it is better to wait and to carry more.
 *
 * Work that is heavy or failed has two places, one for each person while others wait; and the last place of all is never
 * given to a person who has another one. So whoever waits for a lock, or writes for long, leaves room for the others.
 */
export class Places {
  /**
   * No Set: when entries come and go, its outdated tables keep one another in memory until a full collection of garbage, and
   * with them batches with all their records.
   */
  #underWay: readonly Batch[] = [];
  readonly #startedAt = new Map<BatchKind, number>();
  /** What the youngest common batch carries while it is being written; 0 before that. */
  #writing = 0;

  get underWay(): readonly Batch[] {
    return this.#underWay;
  }

  start(batch: Batch): void {
    this.#underWay = [...this.#underWay, batch];
    this.#startedAt.set(batch.kind, performance.now());
    if (batch.kind === 'common') this.#writing = 0;
  }

  wrote(batch: Batch): void {
    if (batch.kind === 'common') this.#writing = batch.units.length;
  }

  end(batch: Batch): void {
    this.#underWay = this.#underWay.filter((one) => one !== batch);
  }

  /** In how many milliseconds more may start, if nothing ends before. */
  get patienceMs(): number | undefined {
    const left = [...this.#startedAt.keys()].map((kind) => this.#patienceOf(kind)).filter((ms) => ms > 0);
    return left.length > 0 ? Math.min(...left) : undefined;
  }

  mayStart(situation: Situation): MayStart {
    const common = this.#count('common');
    const isEager = common === 0 || this.#patienceOf('common') <= 0 || this.#isFullBeside(common, situation);
    const apart = this.#underWay.length - common;
    return (kind, person) => {
      if (this.#underWay.length >= BATCHES_AT_ONCE_MAX) return false;
      const isLast = this.#underWay.length === BATCHES_AT_ONCE_MAX - 1;
      const own = this.#of(person);
      if (isLast && own > 0) return false;
      if (kind === 'common') return isEager;
      if (apart >= APART_MAX) return false;
      return own === 0 || (!situation.hasOthers(person) && this.#patienceOf(kind) <= 0);
    };
  }

  #isFullBeside(common: number, { mayOverlap, waiting }: Situation): boolean {
    return mayOverlap && common === 1 && this.#writing > 0 && waiting >= Math.max(this.#writing, BESIDE_MIN);
  }

  #patienceOf(kind: BatchKind): number {
    return (this.#startedAt.get(kind) ?? -Infinity) + PATIENCE_MS - performance.now();
  }

  #count(kind: BatchKind): number {
    let count = 0;
    for (const batch of this.#underWay) if (batch.kind === kind) count += 1;
    return count;
  }

  /** Batches with work of this person. */
  #of(person: string): number {
    let count = 0;
    for (const batch of this.#underWay) if (batch.taken(person) > 0) count += 1;
    return count;
  }
}
