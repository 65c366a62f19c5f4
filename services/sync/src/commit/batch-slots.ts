import type { Batch, BatchKind } from './batch.ts';
import type { MayStart } from './commit-queue.ts';

/** A batch that runs longer than this, because of a lock or of large records, no longer delays the next one. */
const SLOW_AFTER_MS = 50;
export const BATCHES_MAX = 4;
/** Batches that are not shared: the other slots are for those that are. */
const UNSHARED_MAX = 2;
/** How many units must wait for a second shared batch; with fewer, 64 clients commit a tenth less. */
const SECOND_BATCH_UNITS_MIN = 32;

/** What decides whether a batch may start. */
export interface StartConditions {
  /** Units that wait. */
  readonly waiting: number;
  /** Without the fast path a batch locks the counters that it needs, and the next one would only wait for them. */
  readonly mayOverlap: boolean;
  hasOthers(person: string): boolean;
}

/**
 * The batches that are running, and whether another one may start. A shared batch starts immediately while no other is running;
 * otherwise requests wait and form the next one. A second shared batch starts while the first is being written, if enough units
 * wait: each batch costs PostgreSQL and this process about as much as ten mutations, so small ones wait.
 *
 * Work that is heavy or has failed gets two slots, one for each person while others wait; and the last slot is never for a person
 * who has another one. So a person whose batch waits for a lock, or writes for long, leaves slots to others.
 */
export class BatchSlots {
  /** No Set: the outdated tables of a Set stay in memory until a full garbage collection, with all records of their batches. */
  #running: readonly Batch[] = [];
  readonly #startedAt = new Map<BatchKind, number>();
  /** The units of the last shared batch while it is being written; 0 before that. */
  #unitsBeingWritten = 0;

  get running(): readonly Batch[] {
    return this.#running;
  }

  start(batch: Batch): void {
    this.#running = [...this.#running, batch];
    this.#startedAt.set(batch.kind, performance.now());
    if (batch.kind === 'shared') this.#unitsBeingWritten = 0;
  }

  onSent(batch: Batch): void {
    if (batch.kind === 'shared') this.#unitsBeingWritten = batch.units.length;
  }

  end(batch: Batch): void {
    this.#running = this.#running.filter((one) => one !== batch);
  }

  /** In how many milliseconds another batch may start, if none ends before. */
  get nextStartMs(): number | undefined {
    const left = [...this.#startedAt.keys()].map((kind) => this.#msUntilSlow(kind)).filter((ms) => ms > 0);
    return left.length > 0 ? Math.min(...left) : undefined;
  }

  mayStart(conditions: StartConditions): MayStart {
    const shared = this.#count('shared');
    const mayStartShared = shared === 0 || this.#msUntilSlow('shared') <= 0 || this.#mayStartSecond(shared, conditions);
    const unshared = this.#running.length - shared;
    return (kind, person) => {
      if (this.#running.length >= BATCHES_MAX) return false;
      const isLast = this.#running.length === BATCHES_MAX - 1;
      const own = this.#countOf(person);
      if (isLast && own > 0) return false;
      if (kind === 'shared') return mayStartShared;
      if (unshared >= UNSHARED_MAX) return false;
      return own === 0 || (!conditions.hasOthers(person) && this.#msUntilSlow(kind) <= 0);
    };
  }

  #mayStartSecond(shared: number, { mayOverlap, waiting }: StartConditions): boolean {
    return (
      mayOverlap &&
      shared === 1 &&
      this.#unitsBeingWritten > 0 &&
      waiting >= Math.max(this.#unitsBeingWritten, SECOND_BATCH_UNITS_MIN)
    );
  }

  #msUntilSlow(kind: BatchKind): number {
    return (this.#startedAt.get(kind) ?? -Infinity) + SLOW_AFTER_MS - performance.now();
  }

  #count(kind: BatchKind): number {
    let count = 0;
    for (const batch of this.#running) if (batch.kind === kind) count += 1;
    return count;
  }

  /** How many batches have units of this person. */
  #countOf(person: string): number {
    let count = 0;
    for (const batch of this.#running) if (batch.unitsOf(person) > 0) count += 1;
    return count;
  }
}
