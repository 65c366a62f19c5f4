import { FairQueue } from './fair-queue.ts';

/**
 * Moved in one turn of the event loop, by all people together: a millisecond or two. Less would cost a turn of its own for
 * each piece; with more, a request that needs ten turns to be answered would wait for ten times as much.
 */
const TURN_BYTES = 512 * 1024;

/**
 * The event loop, shared out by person among those who move many bytes: rows out of PostgreSQL, answers to their clients.
 * Whatever the connections would take, one turn of the loop moves so much and no more, one piece of a person after one of
 * another; so everything small, of everybody, waits for one such turn and not for all that is at hand. Keeps
 * never.one-takes-all.
 */
export class LoopTurns {
  readonly #turnBytes: number;
  readonly #queue = new FairQueue<() => void>();
  #left: number;
  #isCounting = false;

  constructor(turnBytes: number = TURN_BYTES) {
    this.#turnBytes = this.#left = turnBytes;
  }

  /** A promise when these bytes must wait for a later turn of the loop. */
  take(person: string, bytes: number): Promise<void> | undefined {
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(this.#onTurn);
    }
    const cost = Math.max(bytes, 1);
    if (this.#left > 0 && this.#queue.size === 0) {
      this.#left -= cost;
      this.#queue.charge(person, cost);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.push(person, resolve, { cost });
    return promise;
  }

  readonly #onTurn = (): void => {
    const isIdle = this.#left === this.#turnBytes && this.#queue.size === 0;
    this.#left = this.#turnBytes;
    while (this.#left > 0) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#left -= next.cost;
      next.item();
    }
    this.#isCounting = !isIdle;
    if (isIdle) this.#queue.reset();
    else setImmediate(this.#onTurn);
  };
}
