import { BoundedMap } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { Refusal } from './refusal.ts';
import { personOf, type Mutation, type Unit } from './unit.ts';

/** A change that is too much now is too much for a while: what it concerns goes in small steps. */
const KEPT_MS = 3_000;

/** As text. A larger one is not kept, since it would be memory of the caller's choice. */
const NAME_LENGTH_MAX = 1_000;

/** Changes that were too much, by person: asked again, they are refused without a look at the database. */
export class Refused {
  readonly #kept = new BoundedMap<string, { refusal: Refusal; untilMs: number }>(LIMITS.commitMemoryEntriesMax);

  #untilMs = -Infinity;

  find(unit: Unit, mutation: Mutation): Refusal | undefined {
    if (performance.now() >= this.#untilMs) return undefined;
    const known = this.#kept.get(nameOf(unit, mutation));
    return known && known.untilMs > performance.now() ? known.refusal : undefined;
  }

  /** Only for a change that is a unit by itself: what others of the same unit did may have made it too much. */
  keep(unit: Unit, mutation: Mutation, refusal: Refusal): Refusal {
    if (unit.mutations.length !== 1 || mutation.action === 'INSERT') return refusal;
    const name = nameOf(unit, mutation);
    if (name.length > NAME_LENGTH_MAX) return refusal;
    this.#untilMs = performance.now() + KEPT_MS;
    this.#kept.set(name, { refusal, untilMs: this.#untilMs });
    return refusal;
  }
}

function nameOf(unit: Unit, { modelName, modelId, action, payload }: Mutation): string {
  return JSON.stringify([personOf(unit), modelName, modelId, action, action === 'UPDATE' ? payload : null]);
}
