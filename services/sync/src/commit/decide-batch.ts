import { LIMITS } from '@wts/contracts';
import { nameOf, type Replays } from '../store/replays.ts';
import { decide, type Decision } from './decide.ts';
import { foreseenNeeds } from './foresee.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Refused } from './refused.ts';
import { sentAs, type Effect, type Mutation, type Unit } from './unit.ts';
import { takeStep } from './sweep.ts';
import { TOO_LARGE, TOO_MANY, TooMuch } from './need.ts';
import { Unread, type Need, type World } from './world.ts';
import type { Decided } from './write.ts';

/** Units that are committed together. */
export interface BatchUnits {
  readonly units: readonly Unit[];
  /** Which request each unit is of: units of one request keep their order. */
  readonly requests: readonly number[];
}

/** What a batch may take. What does not fit waits for a later batch; what fits in none is refused. */
export interface Room {
  /** In small entries. */
  readonly weightMax: number;
  /** Of reading. */
  readonly roundsMax: number;
  /** Whether it has the batch for itself: what is too much for it is too much for any. */
  readonly isAlone: boolean;
}

export interface Question extends BatchUnits {
  readonly replays: Replays;
  readonly now: string;
  readonly room: Room;
  readonly isLastRound: boolean;
  readonly refused: Refused;
}

export interface BatchDecision {
  readonly decided: readonly Decided[];
  /** What must be read before the decisions count. */
  readonly missing: readonly Need[];
}

/** A unit that must wait for a later batch. */
interface Postponed extends Pick<Refusal, 'ok'> {
  readonly isHeavy: boolean;
}

/** Text of entries that weighs as much as a small entry. */
export const WEIGHT_BYTES = 1024;

/**
 * Decides every unit in order. What a unit needs and nobody has read yet is noted, and the others are decided all the
 * same, to learn what they need; only without anything missing do the decisions count.
 *
 * What is too much is the refusal of the unit that needs it, and nothing of its neighbors is read again. What is much, but
 * not too much, waits for a later batch, or for one of its own.
 */
export function decideBatch(world: World, question: Question): BatchDecision {
  world.startAgain();
  const round = new Round(world, question);
  const seen = new Map<string, number>();
  const waiting = new Map<number, boolean>();
  for (const [index, unit] of question.units.entries()) {
    const request = question.requests[index] ?? index;
    const isHeavy = waiting.get(request);
    if (isHeavy !== undefined) {
      round.decided.push({ kind: 'later', isHeavy });
      continue;
    }
    const name = nameOf(sentAs(unit));
    const replay = question.replays.get(name);
    const twin = seen.get(name);
    if (replay) round.decided.push({ kind: 'replayed', replay, weight: round.weightOfReading(unit) });
    else if (twin === undefined) round.decided.push(round.decide(unit));
    else round.decided.push({ kind: 'same', as: twin });
    const one = round.decided[index];
    if (one?.kind === 'later') waiting.set(request, one.isHeavy);
    // A refused first try is no result to repeat: the twin gets its own.
    else if (twin === undefined && one?.kind !== 'refused') seen.set(name, index);
  }
  return round;
}

class Round implements BatchDecision {
  readonly decided: Decided[] = [];
  readonly missing: Need[] = [];
  readonly #world: World;
  readonly #question: Question;
  #weight = 0;

  constructor(world: World, question: Question) {
    this.#world = world;
    this.#question = question;
  }

  decide(unit: Unit): Decided {
    const effects: Effect[] = [];
    let written = 0;
    const mains: { effect: Effect | null; replayOf: bigint | undefined }[] = [];
    const outcome = this.#world.attempt((): { ok: true } | Refusal | Postponed => {
      const { step } = unit;
      const stepped = step && this.#read(() => takeStep(this.#world, unit, step, this.#question.now));
      if (stepped instanceof TooMuch) return refuse('conflict', stepped.message);
      if (stepped && 'ok' in stepped) return stepped;
      effects.push(...(stepped ?? []));
      this.#world.keepEntries(effects);
      for (const mutation of unit.mutations) {
        const decision = this.#ask(unit, mutation);
        if (decision === null) continue;
        if (!decision.ok) return decision;
        this.#world.keepEntries(decision.effects);
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
      // Most rows are written again as they were read: their text is counted once.
      return { kind: 'applied', effects, mains, weight: Math.max(written, read) };
    }
    if ('isHeavy' in outcome) return { kind: 'later', isHeavy: outcome.isHeavy };
    return { kind: 'refused', refusal: outcome, weight: read };
  }

  /** What was locked and read for a unit, also when nothing comes of it: what its rules asked for, and what it names. */
  weightOfReading(unit: Unit): number {
    if (!this.#world.hasRows) return 1;
    for (const need of foreseenNeeds([unit])) {
      if (need.kind === 'row') this.#world.charge(this.#world.stored(need.model, need.id));
    }
    return 1 + this.#world.takeTextRead() / WEIGHT_BYTES;
  }

  #ask(unit: Unit, mutation: Mutation): Decision | Postponed | null {
    const { refused, now } = this.#question;
    const known = refused.find(unit, mutation);
    if (known) return known;
    const decision = this.#read(() => decide(this.#world, unit, mutation, now));
    if (decision instanceof TooMuch) return refused.keep(unit, mutation, refuse('conflict', decision.message));
    return decision;
  }

  /** What is decided, or null when something must be read for it. */
  #read<T>(decision: () => T): T | TooMuch | Postponed | null {
    try {
      return decision();
    } catch (error) {
      if (error instanceof TooMuch) return error;
      if (!(error instanceof Unread)) throw error;
      if (!this.#question.isLastRound) {
        this.missing.push(...error.needs);
        return null;
      }
      const { isAlone } = this.#question.room;
      return isAlone ? new TooMuch('This change affects too many levels of records') : { ok: false, isHeavy: true };
    }
  }

  /** What the entries of a unit weigh, if there is room for them. */
  #measure(effects: readonly Effect[]): number | Refusal | Postponed {
    if (effects.length > LIMITS.cascadeActionsMax) return refuse('conflict', TOO_MANY);
    let length = 0;
    for (const { text } of effects) length += text.length;
    if (length > LIMITS.cascadeBytesMax) return refuse('conflict', TOO_LARGE);
    const weight = effects.length + length / WEIGHT_BYTES;
    const isFull = this.#weight > 0 && this.#weight + weight > this.#question.room.weightMax;
    return isFull ? { ok: false, isHeavy: false } : weight;
  }
}
