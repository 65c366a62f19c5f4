import { LRUCache } from 'lru-cache';

const KINDS_MAX = 1000;
/** The shortest duration counts at once, and longer ones so slowly that a busy hour does not pass for calm. */
const SMOOTHING = 0.001;
/** Work that takes up to so many times its usual time did not wait. */
const USUAL_FACTOR = 2;

/** How long work of each kind takes while nothing else runs. By this shows a wait for PostgreSQL or a processor, which has no queue here. */
export class CalmTimes {
  readonly #calmMs = new LRUCache<string, number>({ max: KINDS_MAX });

  /** Records a piece of work, and returns for how long it waited for others. */
  waitedMs(kind: string, ms: number): number {
    const calmMs = this.#calmMs.peek(kind) ?? ms;
    this.#calmMs.set(kind, Math.min(ms, calmMs + (ms - calmMs) * SMOOTHING));
    return Math.max(ms - calmMs * USUAL_FACTOR, 0);
  }
}
