import { BoundedMap } from '@wts/access';
import { SHARE } from './fair-gate.ts';
import type { RecentPeople } from './recent-people.ts';

/** So much a person has before a quarter of the time is all there is: small requests of everybody stay within it. */
const BURST_MS = 25;
/** Work that takes longer was held up by something else as well. */
const WORK_MS_MAX = 25;
/** People whose rest is known; the earliest is forgotten first. */
const PEOPLE_MAX = 1000;

/** Whom a queue may serve now, asked person by person. */
export interface Rested {
  readonly mayServe: (person: string) => boolean;
  /** In how many milliseconds the first of those who were passed over has rested. */
  readonly soonestMs: number;
}

/**
 * A quarter of the time for each person while others come: who had more rests until that is made up for. One who is alone
 * never rests. Each kind of work counts by itself, because a person who rests for one must not be refused another.
 */
export class TimeShare {
  readonly #recent: RecentPeople;
  /** By when a quarter of the time will have paid for what each had. */
  readonly #paidAt = new BoundedMap<string, number>(PEOPLE_MAX);

  constructor(recent: RecentPeople) {
    this.#recent = recent;
  }

  /** So much time went into work of this person. */
  spent(person: string, ms: number): void {
    if (!this.#recent.hasOthers(person)) return;
    const from = Math.max(performance.now(), this.#paidAt.get(person) ?? 0);
    this.#paidAt.set(person, from + Math.min(ms, WORK_MS_MAX) / SHARE);
  }

  /** How long this person rests from now on; at most 0 when not at all. */
  restMs(person: string): number {
    return (this.#paidAt.get(person) ?? 0) - BURST_MS / SHARE - performance.now();
  }

  /** For one pass over those who wait. */
  rested(): Rested {
    let soonestMs = Infinity;
    return {
      mayServe: (person) => {
        const restMs = this.restMs(person);
        if (restMs > 0) soonestMs = Math.min(soonestMs, restMs);
        return restMs <= 0;
      },
      get soonestMs() {
        return soonestMs;
      },
    };
  }
}
