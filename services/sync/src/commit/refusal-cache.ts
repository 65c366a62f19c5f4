import { LRUCache } from 'lru-cache';
import { personOf, type Mutation, type Unit } from '../decision/unit.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** A change that is too large now is so for a while: the records that it affects change in small steps. */
const KEPT_MS = 3_000;

/** The length of a key. A longer one is not kept, because callers choose its length. */
const KEY_LENGTH_MAX = 1_000;

/** Changes that were too large, by person: sent again, they are refused without reading the database. */
export class RefusalCache {
  readonly #kept = new LRUCache<string, { reason: string; untilMs: number }>({
    max: SYNC_LIMITS.commitMemoryEntriesMax,
  });

  #untilMs = -Infinity;

  /** Why the change was refused, if it was. */
  find(unit: Unit, mutation: Mutation): string | undefined {
    if (performance.now() >= this.#untilMs) return undefined;
    const kept = this.#kept.peek(keyOf(unit, mutation));
    return kept && kept.untilMs > performance.now() ? kept.reason : undefined;
  }

  /** Keeps only a change that is a unit by itself: other mutations of its unit may be the reason that it is too large. */
  add(unit: Unit, reason: string): void {
    const [mutation] = unit.mutations;
    if (mutation === undefined || unit.mutations.length > 1 || mutation.action === 'INSERT') return;
    const key = keyOf(unit, mutation);
    if (key.length > KEY_LENGTH_MAX) return;
    this.#untilMs = performance.now() + KEPT_MS;
    this.#kept.set(key, { reason, untilMs: this.#untilMs });
  }
}

function keyOf(unit: Unit, { modelName, modelId, action, payload }: Mutation): string {
  return JSON.stringify([personOf(unit), modelName, modelId, action, action === 'UPDATE' ? payload : null]);
}
