import { FairQueue, mayTakeMore } from '@wts/service-kit/fairness';
import { DISPATCH } from '../limits.ts';

/*
 * How many attempts run at once, and of whom. Keeps webhooks.fairness.neighbors.
 *
 * An attempt that hangs holds its slot for ten seconds, so a few hundred endpoints that hang would hold every slot there
 * is. So endpoints that are known to be slow share slots of their own, and an attempt that turns out to be slow gives its
 * slots back after a second, except that among all attempts: what hangs never holds a slot that a quick endpoint waits for
 * any longer than that. An endpoint of unknown pace, because it never succeeded or failed last, shares
 * slots with others of unknown pace.
 * Everywhere the owners of workspaces take turns, and none takes all.
 */

export type Pace = 'quick' | 'slow' | 'unknown';

export interface SlotRequest {
  readonly pace: Pace;
  readonly origin: string;
  /** Of the workspace. */
  readonly ownerId: string;
}

export interface SlotLimits {
  readonly quickSlots: number;
  readonly slowSlots: number;
  readonly unknownSlots: number;
  readonly slotsMax: number;
  readonly originSlots: number;
  readonly originSlowSlots: number;
  readonly quickMs: number;
  readonly startsAtOnce: number;
  readonly startMs: number;
}

/** The right to make one attempt. */
export interface Slot {
  /** The attempt begins: from now on it is measured. */
  readonly begin: () => void;
  readonly free: () => void;
}

/** Slots, given out to owners in turn, and to the attempts of one owner in the order of their requests. */
class SlotPool {
  readonly #max: number;
  readonly #waiting = new FairQueue<() => void>();
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  get isUnused(): boolean {
    return this.#taken === 0 && this.#waiting.size === 0;
  }

  /** Undefined when a slot was free, so that no promise is made for it. */
  take(ownerId: string): Promise<void> | undefined {
    if (this.#waiting.of(ownerId).size > 0 || !this.#mayTake(ownerId))
      return new Promise<void>((resolve) => this.#waiting.push(ownerId, resolve));
    this.#count(ownerId, 1);
    return undefined;
  }

  free(ownerId: string): void {
    this.#count(ownerId, -1);
    while (this.#taken < this.#max) {
      const next = this.#waiting.shift((waitingId) => this.#mayTake(waitingId));
      if (next === undefined) return;
      this.#count(next.person, 1);
      next.item();
    }
  }

  #mayTake(ownerId: string): boolean {
    return mayTakeMore(this.#takenBy.get(ownerId) ?? 0, this.#max - this.#taken);
  }

  #count(ownerId: string, change: 1 | -1): void {
    this.#taken += change;
    const taken = (this.#takenBy.get(ownerId) ?? 0) + change;
    if (taken === 0) this.#takenBy.delete(ownerId);
    else this.#takenBy.set(ownerId, taken);
  }
}

/** As many slots for each key; nothing is kept of a key without attempts, because the number of hosts has no bound. */
class KeyedSlotPools {
  readonly #max: number;
  readonly #pools = new Map<string, SlotPool>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#pools.size;
  }

  take(key: string, ownerId: string): Promise<void> | undefined {
    return this.#pools.getOrInsertComputed(key, () => new SlotPool(this.#max)).take(ownerId);
  }

  free(key: string, ownerId: string): void {
    const pool = this.#pools.get(key);
    pool?.free(ownerId);
    if (pool?.isUnused === true) this.#pools.delete(key);
  }
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #origins: KeyedSlotPools;
  readonly #slowOrigins: KeyedSlotPools;
  readonly #paces: Readonly<Record<Pace, SlotPool>>;
  readonly #all: SlotPool;
  /** Of attempts that are not quick: they give their quick slots back together, and the next ones would all begin at once. */
  readonly #starts: SlotPool;
  /** Attempts that turned out to be slow, which hold only a slot among all. */
  #late = 0;

  constructor(limits: SlotLimits = DISPATCH) {
    this.#limits = limits;
    this.#origins = new KeyedSlotPools(limits.originSlots);
    this.#slowOrigins = new KeyedSlotPools(limits.originSlowSlots);
    this.#paces = {
      quick: new SlotPool(limits.quickSlots),
      slow: new SlotPool(limits.slowSlots),
      unknown: new SlotPool(limits.unknownSlots),
    };
    this.#all = new SlotPool(limits.slotsMax);
    this.#starts = new SlotPool(limits.startsAtOnce);
  }

  /** Attempts that hold a slot, by what they count as. */
  get taken(): Readonly<Record<Pace, number>> {
    const { quick, slow, unknown } = this.#paces;
    return { quick: quick.taken, slow: slow.taken + this.#late, unknown: unknown.taken };
  }

  /**
   * Always in this order. An attempt that waits for a slot among all endpoints holds one of its origin by then, so that an
   * origin with many endpoints is represented there by a few. An endpoint of unknown pace counts as slow for its origin.
   */
  async take({ pace, origin, ownerId }: SlotRequest): Promise<Slot> {
    const pool = this.#paces[pace];
    if (pace !== 'quick') await this.#slowOrigins.take(origin, ownerId);
    await this.#origins.take(origin, ownerId);
    await pool.take(ownerId);
    await this.#all.take(ownerId);
    if (pace !== 'quick') {
      await this.#starts.take(ownerId);
      setTimeout(() => this.#starts.free(ownerId), this.#limits.startMs);
    }

    let timer: NodeJS.Timeout | undefined;
    let isEarly = true;
    const leaveEarly = (): void => {
      if (!isEarly) return;
      isEarly = false;
      this.#origins.free(origin, ownerId);
      if (pace !== 'quick') this.#slowOrigins.free(origin, ownerId);
      if (pace !== 'slow') pool.free(ownerId);
    };
    let late = 0;
    return {
      begin: () => {
        timer = setTimeout(() => {
          leaveEarly();
          this.#late += late = pace === 'slow' ? 0 : 1;
        }, this.#limits.quickMs);
      },
      free: () => {
        clearTimeout(timer);
        leaveEarly();
        this.#late -= late;
        if (pace === 'slow') pool.free(ownerId);
        this.#all.free(ownerId);
      },
    };
  }

  /** How many origins have an entry. */
  get keys(): number {
    return this.#origins.size + this.#slowOrigins.size;
  }
}
