import { LRUCache } from 'lru-cache';
import type { Refusal } from './refusal.ts';
import { personOf, type Mutation, type Unit } from './unit.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** A change that is too large now is so for a while: the records that it affects change in small steps. */
const KEPT_MS = 3_000;

/** The length of a key. A longer one is not kept, because callers choose its length. */
const KEY_LENGTH_MAX = 1_000;

/** Changes that were too large, by person: sent again, they are refused without reading the database. */
export class RefusalCache {
  readonly #kept = new LRUCache<string, { refusal: Refusal; untilMs: number }>({
    max: SYNC_LIMITS.commitMemoryEntriesMax,
  });

  #untilMs = -Infinity;

  find(unit: Unit, mutation: Mutation): Refusal | undefined {
    if (performance.now() >= this.#untilMs) return undefined;
    const kept = this.#kept.peek(keyOf(unit, mutation));
    return kept && kept.untilMs > performance.now() ? kept.refusal : undefined;
  }

  /** Keeps only a change that is a unit by itself: other mutations of its unit may be the reason that it is too large. */
  add(unit: Unit, mutation: Mutation, refusal: Refusal): Refusal {
    if (unit.mutations.length !== 1 || mutation.action === 'INSERT') return refusal;
    const key = keyOf(unit, mutation);
    if (key.length > KEY_LENGTH_MAX) return refusal;
    this.#untilMs = performance.now() + KEPT_MS;
    this.#kept.set(key, { refusal, untilMs: this.#untilMs });
    return refusal;
  }
}

function keyOf(unit: Unit, { modelName, modelId, action, payload }: Mutation): string {
  return JSON.stringify([personOf(unit), modelName, modelId, action, action === 'UPDATE' ? payload : null]);
}
