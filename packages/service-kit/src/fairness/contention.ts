import { BoundedMap } from '@wts/access';
import { SHARE } from './fair-gate.ts';

/** A shorter wait does not count, because no person notices it. */
const WAIT_MS_MAX = 5;
/** How long such a wait counts: a person who waits again does so within this time. */
const WAIT_COUNTS_MS = 250;
/** After this time half as much of a use counts. */
const HALF_LIFE_MS = 500;
/** A person yields to those who used less than this part of what they used, so equals never yield to each other. */
const LIGHTER = 1 / 2;
/** Time that a person may use before the share applies, so that small requests are never paused. */
const BURST_MS = 25;
/** The longest time that one piece of work counts, because a longer one also waited for something else. */
const WORK_MS_MAX = 25;
/** People whose use is stored, and those whose wait is; the oldest is removed first. */
const PEOPLE_MAX = 1000;
const WAITING_MAX = 64;

/** Whether a queue may serve a person now. */
export interface Eligibility {
  readonly mayServe: (person: string) => boolean;
  /** The milliseconds until the first pause of a person who was refused ends. */
  readonly soonestMs: number;
}

interface Use {
  readonly ms: number;
  readonly at: number;
  /** When the share will have made up for what the person used while yielding. */
  readonly paidAt: number;
}

const NO_USE: Use = { ms: 0, at: 0, paidAt: 0 };

/**
 * Tells who must yield: a person who used much of a process while the work of a person who used less waited for it. Only such a
 * wait slows a person down, to a quarter of the time; so a person among idle neighbors has everything, and busy people who use
 * about the same never pause each other, because turns already give each of them a part.
 */
export class Contention {
  readonly #uses = new BoundedMap<string, Use>(PEOPLE_MAX);
  /** When each of these people noticed a wait; the latest is last. */
  readonly #waits = new Map<string, number>();
  /** The least use of a person who waited, on the clock of its computation. */
  #least = { ms: Infinity, at: -Infinity };

  /** Counts time that was used for this person. */
  used(person: string, ms: number): void {
    const now = performance.now();
    const use = this.#uses.get(person) ?? NO_USE;
    const counted = Math.min(ms, WORK_MS_MAX);
    const paidAt = this.mustYield(person) ? Math.max(now, use.paidAt) + counted / SHARE : use.paidAt;
    this.#uses.set(person, { ms: decayed(use, now) + counted, at: now, paidAt });
  }

  /** Counts a wait of this person for something that others had. */
  waited(person: string, ms: number): void {
    if (ms <= WAIT_MS_MAX) return;
    this.#waits.delete(person);
    this.#waits.set(person, performance.now());
    const [oldest] = this.#waits.size > WAITING_MAX ? this.#waits.keys() : [];
    if (oldest !== undefined) this.#waits.delete(oldest);
    this.#least.at = -Infinity;
  }

  /** Whether a person who used less waited a moment ago. */
  mustYield(person: string): boolean {
    if (this.#waits.size === 0) return false;
    const now = performance.now();
    return decayed(this.#uses.get(person) ?? NO_USE, now) * LIGHTER > this.#leastUse(now);
  }

  /** How long this person is still paused; 0 or less when they are not. */
  pauseMs(person: string): number {
    const { paidAt } = this.#uses.get(person) ?? NO_USE;
    const pauseMs = paidAt - BURST_MS / SHARE - performance.now();
    return pauseMs > 0 && this.mustYield(person) ? Math.min(pauseMs, WAIT_COUNTS_MS) : 0;
  }

  /** For one pass over the people who wait. */
  eligibility(): Eligibility {
    let soonestMs = Infinity;
    return {
      mayServe: (person) => {
        const pauseMs = this.pauseMs(person);
        if (pauseMs > 0) soonestMs = Math.min(soonestMs, pauseMs);
        return pauseMs <= 0;
      },
      get soonestMs() {
        return soonestMs;
      },
    };
  }

  /** Infinity when no wait counts any more. Computed once a millisecond, because it visits all who waited. */
  #leastUse(now: number): number {
    if (now - this.#least.at < 1) return this.#least.ms;
    let ms = Infinity;
    for (const [person, at] of this.#waits) {
      if (now - at > WAIT_COUNTS_MS) this.#waits.delete(person);
      else ms = Math.min(ms, decayed(this.#uses.get(person) ?? NO_USE, now));
    }
    this.#least = { ms, at: now };
    return ms;
  }
}

function decayed({ ms, at }: Use, now: number): number {
  return ms * 2 ** ((at - now) / HALF_LIFE_MS);
}
