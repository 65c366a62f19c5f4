import { keyText, type Replays } from '../store/idempotency-keys.ts';
import { decide, type Decision } from './decide.ts';
import type { DecisionState } from './decision-state.ts';
import { ChangeTooLarge, LookupMissing, TOO_MANY_RECORDS, TOO_MUCH_TEXT, type Lookup } from './lookup.ts';
import { predictLookups } from './predict-lookups.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { RefusalCache } from './refusal-cache.ts';
import { decideSweepStep } from './sweep-step.ts';
import { idempotencyKeyOf, type Effect, type Mutation, type Unit } from './unit.ts';
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

/** The unit must wait for a later batch. */
interface Postponed extends Pick<Refusal, 'ok'> {
  readonly isHeavy: boolean;
}

/** The length of text that weighs as much as a small entry. */
export const WEIGHT_BYTES = 1024;

/**
 * Decides every unit in order. Lookups that were not read yet are collected over all units; the decisions are valid only when none
 * is missing.
 *
 * A unit that is too large for any batch is refused, without another round of reads for the other units. A unit that is too large
 * only for this batch waits for a later batch, or for a batch of its own.
 */
export function decideBatch(state: DecisionState, input: BatchInput): BatchDecision {
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

class Round implements BatchDecision {
  readonly decided: UnitDecision[] = [];
  readonly missing: Lookup[] = [];
  readonly #state: DecisionState;
  readonly #input: BatchInput;
  #weight = 0;

  constructor(state: DecisionState, input: BatchInput) {
    this.#state = state;
    this.#input = input;
  }

  decide(unit: Unit): UnitDecision {
    const effects: Effect[] = [];
    let written = 0;
    const mains: { effect: Effect | null; replayOf: bigint | undefined }[] = [];
    const outcome = this.#state.undoIfRefused((): { ok: true } | Refusal | Postponed => {
      const { step } = unit;
      const stepped = step && this.#collectMissing(() => decideSweepStep(this.#state, unit, step));
      if (stepped instanceof ChangeTooLarge) return refuse('conflict', stepped.message);
      if (stepped && 'ok' in stepped) return stepped;
      effects.push(...(stepped ?? []));
      this.#state.recordEntries(effects);
      for (const mutation of unit.mutations) {
        const decision = this.#decideMutation(unit, mutation);
        if (decision === null) continue;
        if (!decision.ok) return decision;
        this.#state.recordEntries(decision.effects);
        for (const effect of decision.effects) effects.push(effect);
        mains.push({ effect: decision.main, replayOf: decision.replayOf });
      }
      const measured = this.#measure(effects);
      if (typeof measured !== 'number') return measured;
      written = measured;
      return { ok: true };
    });
    const read = this.weightOfReading(unit);
    if (outcome.ok) {
      this.#weight += written;
      // Most rows that are read are written too: their text is counted once.
      return { kind: 'applied', effects, mains, weight: Math.max(written, read) };
    }
    if ('isHeavy' in outcome) return { kind: 'later', isHeavy: outcome.isHeavy };
    return { kind: 'refused', refusal: outcome, weight: read };
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

  #decideMutation(unit: Unit, mutation: Mutation): Decision | Postponed | null {
    const { refusalCache } = this.#input;
    const refusal = refusalCache.find(unit, mutation);
    if (refusal) return refusal;
    const decision = this.#collectMissing(() => decide(this.#state, unit, mutation));
    if (decision instanceof ChangeTooLarge)
      return refusalCache.add(unit, mutation, refuse('conflict', decision.message));
    return decision;
  }

  /** The decision, or null when something must be read for it. */
  #collectMissing<T>(decision: () => T): T | ChangeTooLarge | Postponed | null {
    try {
      return decision();
    } catch (error) {
      if (error instanceof ChangeTooLarge) return error;
      if (!(error instanceof LookupMissing)) throw error;
      if (!this.#input.isLastRound) {
        this.missing.push(...error.lookups);
        return null;
      }
      const { hasOneRequest } = this.#input.limits;
      return hasOneRequest
        ? new ChangeTooLarge('This change affects too many levels of records')
        : { ok: false, isHeavy: true };
    }
  }

  /** The weight of the entries of a unit, if it fits into the batch. */
  #measure(effects: readonly Effect[]): number | Refusal | Postponed {
    if (effects.length > SYNC_LIMITS.unitEntriesMax) return refuse('conflict', TOO_MANY_RECORDS);
    let length = 0;
    for (const { text } of effects) length += text.length;
    if (length > SYNC_LIMITS.unitTextBytesMax) return refuse('conflict', TOO_MUCH_TEXT);
    const weight = effects.length + length / WEIGHT_BYTES;
    const isFull = this.#weight > 0 && this.#weight + weight > this.#input.limits.weightMax;
    return isFull ? { ok: false, isHeavy: false } : weight;
  }
}
