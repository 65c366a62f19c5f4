import { BoundedMap } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { Refusal } from './refusal.ts';
import { personOf, type Mutation, type Unit } from './unit.ts';

/** A change that is too much now is too much for a while: what it concerns goes in small steps. */
const KEPT_MS = 3_000;

/** Changes that were too much, by person: asked again, they are refused without a look at the database. */
export class Refused {
  readonly #kept = new BoundedMap<string, { refusal: Refusal; untilMs: number }>(LIMITS.commitMemoryEntriesMax);

  find(unit: Unit, mutation: Mutation): Refusal | undefined {
    if (this.#kept.size === 0) return undefined;
    const known = this.#kept.get(nameOf(unit, mutation));
    return known && known.untilMs > performance.now() ? known.refusal : undefined;
  }

  /** Only for a change that is a unit by itself: what others of the same unit did may have made it too much. */
  keep(unit: Unit, mutation: Mutation, refusal: Refusal): Refusal {
    if (unit.mutations.length === 1 && mutation.action !== 'INSERT') {
      this.#kept.set(nameOf(unit, mutation), { refusal, untilMs: performance.now() + KEPT_MS });
    }
    return refusal;
  }
}

function nameOf(unit: Unit, { modelName, modelId, action, payload }: Mutation): string {
  return JSON.stringify([personOf(unit), modelName, modelId, action, action === 'UPDATE' ? payload : null]);
}
