import { FairQueue } from './fair-queue.ts';
import type { RecentPeople } from './recent-people.ts';
import { TimeShare } from './time-share.ts';

/**
 * Moved in one turn of the event loop, by all people together: a millisecond or two. Less would cost a turn of its own for
 * each piece; with more, a request that needs ten turns to be answered would wait for ten times as much.
 */
const TURN_BYTES = 512 * 1024;
/**
 * The event loop, shared out by person among those who move many bytes: rows out of PostgreSQL, answers to their clients.
 * Whatever the connections would take, one turn of the loop moves so much and no more, one piece of a person after one of
 * another; so everything small, of everybody, waits for one such turn and not for all that is at hand.
 *
 * While others come, what one person moves takes a quarter of the time: after turns of 2 ms that person rests for 6. What
 * then stands idle is not lost: on few cores the gateway and PostgreSQL, which work for the same bytes, leave them to the
 * others too. One who is alone does not rest. Keeps never.one-takes-all.
 */
export class LoopTurns {
  readonly #turnBytes: number;
  readonly #queue = new FairQueue<() => void>();
  readonly #share: TimeShare;
  /** What was moved in this turn. */
  readonly #moved = new Map<string, number>();
  #left: number;
  #startedAt = 0;
  #isCounting = false;
  /** Set while all who wait rest. */
  #wakeUp: NodeJS.Timeout | undefined;

  constructor(recent: RecentPeople, turnBytes: number = TURN_BYTES) {
    this.#share = new TimeShare(recent);
    this.#turnBytes = this.#left = turnBytes;
  }

  /** A promise when these bytes must wait for a later turn of the loop. */
  take(person: string, bytes: number): Promise<void> | undefined {
    const cost = Math.max(bytes, 1);
    if (this.#left > 0 && this.#queue.size === 0 && this.#share.restMs(person) <= 0) {
      this.#queue.charge(person, cost);
      this.#move(person, cost);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.push(person, resolve, { cost });
    this.#count();
    return promise;
  }

  /** So much time went into work of this person that no turn was taken for, here or in what works for the same. */
  spent(person: string, ms: number): void {
    this.#share.spent(person, ms);
  }

  #move(person: string, cost: number): void {
    this.#left -= cost;
    this.#moved.set(person, (this.#moved.get(person) ?? 0) + cost);
    this.#count();
  }

  #count(): void {
    if (this.#isCounting) return;
    clearTimeout(this.#wakeUp);
    this.#isCounting = true;
    this.#startedAt = performance.now();
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    const now = performance.now();
    this.#rest(now);
    this.#left = this.#turnBytes;
    this.#startedAt = now;
    this.#isCounting = false;
    const rested = this.#share.rested();
    while (this.#left > 0) {
      const next = this.#queue.shift(rested.mayServe);
      if (next === undefined) break;
      this.#move(next.person, next.cost);
      next.item();
    }
    if (this.#isCounting) return;
    if (this.#queue.size === 0) this.#queue.reset();
    else this.#wakeUp = setTimeout(this.#onTurn, rested.soonestMs);
  };

  /** The turn that is over counts for those who moved something in it. */
  #rest(now: number): void {
    const all = this.#turnBytes - this.#left;
    for (const [person, bytes] of this.#moved) this.#share.spent(person, (now - this.#startedAt) * (bytes / all));
    this.#moved.clear();
  }
}
