import type { NetworkOf } from './caller-networks.ts';
import type { Contention } from './contention.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * Bytes moved in one turn of the event loop, for all people together: a millisecond or two. With less, each piece would need a
 * turn of its own; with more, each request would wait longer, once for every turn it needs.
 */
const TURN_BYTES = 512 * 1024;

/**
 * Divides the event loop by network and person among work of many pieces: rows from PostgreSQL, answers to clients, records of an answer. A piece
 * has a size, such as its bytes, in one unit for all. One turn of the loop moves at most `turnSize`, pieces of different people
 * alternating; so a small request waits for one such turn and not for all that is ready.
 *
 * While the work of a person who used less waits, the transfers of one who used more get a quarter of the time (`Contention`):
 * after a turn of 2 ms that person is paused for 6. On few cores the gateway and PostgreSQL, which handle the same bytes, leave
 * this time to the others too. Keeps never.one-takes-all.
 */
export class LoopTurns {
  readonly #turnSize: number;
  readonly #queue: FairQueue<() => void>;
  readonly #contention: Contention;
  /** What was moved in this turn, by person. */
  readonly #moved = new Map<string, number>();
  #left: number;
  #startedAt = 0;
  #isCounting = false;
  /** Set while all people who wait are paused. */
  #wakeUp: NodeJS.Timeout | undefined;

  constructor(contention: Contention, turnSize: number = TURN_BYTES) {
    this.#contention = contention;
    this.#queue = new FairQueue(contention.networkOf);
    this.#turnSize = this.#left = turnSize;
  }

  get networkOf(): NetworkOf {
    return this.#contention.networkOf;
  }

  /** Returns a promise when a piece of this size must wait for a later turn of the loop. */
  take(person: string, size: number): Promise<void> | undefined {
    const cost = Math.max(size, 1);
    if (this.#left > 0 && this.#queue.size === 0 && this.#contention.pauseMs(person) <= 0) {
      this.#queue.charge(person, cost);
      this.#move(person, cost);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const since = performance.now();
    const onTurn = (): void => {
      this.#contention.waited(person, performance.now() - since);
      resolve();
    };
    this.#queue.push(person, onTurn, { cost });
    this.#count();
    return promise;
  }

  /** Counts time that was used for this person without a turn. */
  spent(person: string, ms: number): void {
    this.#contention.used(person, ms);
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
    this.#chargeTurn(now);
    this.#left = this.#turnSize;
    this.#startedAt = now;
    this.#isCounting = false;
    const eligibility = this.#contention.eligibility();
    while (this.#left > 0) {
      const next = this.#queue.shift(eligibility.mayServe, eligibility.mayServeNetwork);
      if (next === undefined) break;
      this.#move(next.person, next.cost);
      next.item();
    }
    if (this.#isCounting) return;
    if (this.#queue.size === 0) this.#queue.reset();
    else this.#wakeUp = setTimeout(this.#onTurn, eligibility.soonestMs);
  };

  /** Counts the time of the last turn for the people who moved pieces in it. */
  #chargeTurn(now: number): void {
    const all = this.#turnSize - this.#left;
    for (const [person, moved] of this.#moved) this.#contention.used(person, (now - this.#startedAt) * (moved / all));
    this.#moved.clear();
  }
}
