import { isOf, Task } from '@wts/models';
import { keyText, type Replays } from '../store/idempotency-keys.ts';
import type { BatchState } from '../decision/batch-state.ts';
import { decide } from '../rules/decide.ts';
import { Decision } from '../decision/decision.ts';
import { LookupMissing, type Lookup } from '../decision/lookup.ts';
import { decideLeaveStep, decidePutStep } from '../rules/move-steps.ts';
import { decidePurgeStep } from '../rules/purge-step.ts';
import { predictLookups } from './predict-lookups.ts';
import { ChangeTooLarge, Refused, TOO_MANY_RECORDS, TOO_MUCH_TEXT } from '../decision/refusal.ts';
import type { RefusalCache } from './refusal-cache.ts';
import { decideDueTask } from '../rules/occurrence.ts';
import { decideSweepStep } from '../rules/sweep-step.ts';
import { idempotencyKeyOf, type Effect, type Unit } from '../decision/unit.ts';
import type { UnitDecision } from './write.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** Units that are committed together. */
export interface BatchUnits {
  readonly units: readonly Unit[];
  /** The request of each unit, by its index: units of one request keep their order. */
  readonly requests: readonly number[];
}

/** Limits of a batch. A unit that does not fit waits for a later batch; one that fits in none is refused. */
export interface BatchLimits {
  /** The weight of its entries and of the text that it reads; a small entry weighs 1. */
  readonly weightMax: number;
  /** Rounds of reading. */
  readonly roundsMax: number;
  /** Whether the batch has one request: a unit that is too large for it is too large for any. */
  readonly hasOneRequest: boolean;
}

export interface BatchInput extends BatchUnits {
  readonly replays: Replays;
  readonly limits: BatchLimits;
  readonly isLastRound: boolean;
  readonly refusalCache: RefusalCache;
}

export interface BatchDecision {
  readonly decided: readonly UnitDecision[];
  /** What must be read before the decisions are valid. */
  readonly missing: readonly Lookup[];
}

/** Thrown for a unit that must wait for a later batch. `isHeavy`: for one of its own. */
class Postponed extends Error {
  readonly isHeavy: boolean;

  constructor(isHeavy: boolean) {
    super('The unit must wait for a later batch');
    this.isHeavy = isHeavy;
  }
}

/** The length of text that weighs as much as a small entry. */
export const WEIGHT_BYTES = 1024;
/**
 * Each character of a title may be a key of the search index, and so many of them take PostgreSQL as long as a small entry. Titles of a usual
 * length weigh nothing.
 */
const TITLE_KEYS_OF_WEIGHT = 16;
const TITLE_CHARS_USUAL = 100;

/**
 * Decides every unit in order. Lookups that were not read yet are collected over all units; the decisions are valid only when none
 * is missing.
 *
 * A unit that is too large for any batch is refused, without another round of reads for the other units. A unit that is too large
 * only for this batch waits for a later batch, or for a batch of its own.
 */
export function decideBatch(state: BatchState, input: BatchInput): BatchDecision {
  state.discardChanges();
  const round = new Round(state, input);
  const indexByKey = new Map<string, number>();
  const postponed = new Map<number, boolean>();
  for (const [index, unit] of input.units.entries()) {
    const request = input.requests[index] ?? index;
    const isHeavy = postponed.get(request);
    if (isHeavy !== undefined) {
      round.decided.push({ kind: 'later', isHeavy });
      continue;
    }
    const key = keyText(idempotencyKeyOf(unit));
    const replay = input.replays.get(key);
    const earlier = indexByKey.get(key);
    if (replay) round.decided.push({ kind: 'replayed', replay, weight: round.weightOfReading(unit) });
    else if (earlier === undefined) round.decided.push(round.decide(unit));
    else round.decided.push({ kind: 'same', as: earlier });
    const one = round.decided[index];
    if (one?.kind === 'later') postponed.set(request, one.isHeavy);
    // A refusal is not repeated: the next unit with the key is decided itself.
    else if (earlier === undefined && one?.kind !== 'refused') indexByKey.set(key, index);
  }
  return round;
}

/**
 * How long a batch decides: requests of other people wait for it, and so do all reads of the process. Units after that wait for the
 * next batch. Only rules of repeating tasks with rare days take so long; a unit of another kind takes some microseconds.
 */
const DECIDE_MS_MAX = 25;

function decideStep(decision: Decision, step: NonNullable<Unit['step']>): void {
  if ('sweep' in step) decideSweepStep(decision, step);
  else if ('records' in step) decidePutStep(decision, step);
  else if ('memberIds' in step) decideLeaveStep(decision, step);
  else decidePurgeStep(decision, step);
}

class Round implements BatchDecision {
  readonly #sinceMs = performance.now();
  readonly decided: UnitDecision[] = [];
  readonly missing: Lookup[] = [];
  readonly #state: BatchState;
  readonly #input: BatchInput;
  #weight = 0;

  constructor(state: BatchState, input: BatchInput) {
    this.#state = state;
    this.#input = input;
  }

  decide(unit: Unit): UnitDecision {
    const isLate = this.decided.length > 0 && performance.now() - this.#sinceMs > DECIDE_MS_MAX;
    if (isLate) return { kind: 'later', isHeavy: false };
    const decision = new Decision(this.#state, unit);
    try {
      const mains = this.#decideAll(decision);
      this.#state.trash.workspaces.moving.refuse(unit, decision.effects);
      const written = this.#weigh(decision.effects);
      this.#weight += written;
      // Most rows that are read are written too: their text is counted once.
      const weight = Math.max(written, this.weightOfReading(unit));
      return { kind: 'applied', effects: decision.effects, mains, weight };
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Postponed)) throw error;
      this.#state.changes.undo();
      const weight = this.weightOfReading(unit);
      if (error instanceof Postponed) return { kind: 'later', isHeavy: error.isHeavy };
      if (error instanceof ChangeTooLarge) this.#input.refusalCache.add(unit, error.message);
      return { kind: 'refused', refusal: this.#state.trash.workspaces.moving.explain(unit, error.refusal), weight };
    }
  }

  /**
   * The weight of the rows that were read for a unit, also when it is refused: those that its rules queried, and those it names.
   */
  weightOfReading(unit: Unit): number {
    const { reads } = this.#state;
    if (!reads.hasRows) return 1;
    for (const lookup of predictLookups([unit])) {
      if (lookup.kind === 'row') reads.countText(reads.rowBefore(lookup.model, lookup.id));
    }
    return 1 + reads.takeTextLength() / WEIGHT_BYTES;
  }

  /** The entry of each mutation; without those for which something must be read. */
  #decideAll(decision: Decision): (Effect | bigint)[] {
    const { unit } = decision;
    const { step, due } = unit;
    const mains: (Effect | bigint)[] = [];
    if (step) this.#collectMissing(() => decideStep(decision, step));
    if (due) this.#collectMissing(() => decideDueTask(decision, due));
    for (const mutation of unit.mutations) {
      const reason = this.#input.refusalCache.find(unit, mutation);
      if (reason !== undefined) throw new Refused('conflict', reason);
      this.#collectMissing(() => mains.push(decide(decision, mutation)));
    }
    return mains;
  }

  /** What is missing for one mutation is read in the same round as what is missing for the next ones. */
  #collectMissing(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof LookupMissing)) throw error;
      const { isLastRound, limits } = this.#input;
      if (isLastRound && limits.hasOneRequest)
        throw new ChangeTooLarge('This change affects too many levels of records');
      if (isLastRound) throw new Postponed(true);
      this.missing.push(...error.lookups);
    }
  }

  /** The weight of the entries of a unit, if it fits into the batch. */
  #weigh(effects: readonly Effect[]): number {
    if (effects.length > SYNC_LIMITS.unitEntriesMax) throw new Refused('conflict', TOO_MANY_RECORDS);
    let length = 0;
    let titleKeys = 0;
    for (const effect of effects) {
      length += effect.text.length;
      if (isOf(effect, Task)) titleKeys += Math.max(effect.record.title.length - TITLE_CHARS_USUAL, 0);
    }
    if (length > SYNC_LIMITS.unitTextBytesMax) throw new Refused('conflict', TOO_MUCH_TEXT);
    const weight = effects.length + length / WEIGHT_BYTES + titleKeys / TITLE_KEYS_OF_WEIGHT;
    if (this.#weight > 0 && this.#weight + weight > this.#input.limits.weightMax) throw new Postponed(false);
    return weight;
  }
}
