import { FairQueue, type Contention, type NetworkOf } from '@wts/service-kit/fairness';

/**
 * Bytes moved in one turn of the event loop, for all people together: a millisecond or two. With less, each piece would need a
 * turn of its own; with more, each request would wait longer, once for every turn it needs.
 */
const TURN_BYTES = 512 * 1024;
/**
 * Divides the event loop by network and person among transfers of many bytes: rows from PostgreSQL, answers to clients. One turn of the
 * loop moves at most `TURN_BYTES`, pieces of different people alternating; so a small request waits for one such turn and
 * not for all bytes that are ready.
 *
 * While the work of a person who used less waits, the transfers of one who used more get a quarter of the time (`Contention`):
 * after a turn of 2 ms that person is paused for 6. On few cores the gateway and PostgreSQL, which handle the same bytes, leave
 * this time to the others too. Keeps never.one-takes-all.
 */
export class LoopTurns {
  readonly #turnBytes: number;
  readonly #queue: FairQueue<() => void>;
  readonly #contention: Contention;
  /** Bytes moved in this turn, by person. */
  readonly #moved = new Map<string, number>();
  #left: number;
  #startedAt = 0;
  #isCounting = false;
  /** Set while all people who wait are paused. */
  #wakeUp: NodeJS.Timeout | undefined;

  constructor(contention: Contention, turnBytes: number = TURN_BYTES) {
    this.#contention = contention;
    this.#queue = new FairQueue(contention.networkOf);
    this.#turnBytes = this.#left = turnBytes;
  }

  get networkOf(): NetworkOf {
    return this.#contention.networkOf;
  }

  /** Returns a promise when these bytes must wait for a later turn of the loop. */
  take(person: string, bytes: number): Promise<void> | undefined {
    const cost = Math.max(bytes, 1);
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
    this.#left = this.#turnBytes;
    this.#startedAt = now;
    this.#isCounting = false;
    const eligibility = this.#contention.eligibility();
    while (this.#left > 0) {
      const next = this.#queue.shift(eligibility.mayServe);
      if (next === undefined) break;
      this.#move(next.person, next.cost);
      next.item();
    }
    if (this.#isCounting) return;
    if (this.#queue.size === 0) this.#queue.reset();
    else this.#wakeUp = setTimeout(this.#onTurn, eligibility.soonestMs);
  };

  /** Counts the time of the last turn for the people who moved bytes in it. */
  #chargeTurn(now: number): void {
    const all = this.#turnBytes - this.#left;
    for (const [person, bytes] of this.#moved) this.#contention.used(person, (now - this.#startedAt) * (bytes / all));
    this.#moved.clear();
  }
}
