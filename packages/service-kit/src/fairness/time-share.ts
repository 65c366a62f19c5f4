import { BoundedMap } from '@wts/access';
import { SHARE } from './fair-gate.ts';
import type { RecentPeople } from './recent-people.ts';

/** Time that a person may use before the share applies, so that small requests are never paused. */
const BURST_MS = 25;
/** The longest time that one piece of work counts, because a longer one also waited for something else. */
const WORK_MS_MAX = 25;
/** People whose use is stored; the oldest is removed first. */
const PEOPLE_MAX = 1000;

/** Whether a queue may serve a person now. */
export interface Eligibility {
  readonly mayServe: (person: string) => boolean;
  /** The milliseconds until the first pause of a person who was refused ends. */
  readonly soonestMs: number;
}

/**
 * Gives each person a quarter of the time while others are active: a person who used more is paused until the average is a
 * quarter again. A person who is alone is never paused. Each kind of work has a TimeShare of its own, because a pause for one
 * kind must not delay another.
 */
export class TimeShare {
  readonly #recent: RecentPeople;
  /** When a quarter of the time will have made up for what the person used. */
  readonly #paidAt = new BoundedMap<string, number>(PEOPLE_MAX);

  constructor(recent: RecentPeople) {
    this.#recent = recent;
  }

  /** Counts time that was used for this person. */
  spent(person: string, ms: number): void {
    if (!this.#recent.hasOthers(person)) return;
    const from = Math.max(performance.now(), this.#paidAt.get(person) ?? 0);
    this.#paidAt.set(person, from + Math.min(ms, WORK_MS_MAX) / SHARE);
  }

  /** How long this person is still paused; 0 or less when they are not. */
  pauseMs(person: string): number {
    return (this.#paidAt.get(person) ?? 0) - BURST_MS / SHARE - performance.now();
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
}
