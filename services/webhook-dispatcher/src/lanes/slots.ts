import { FairQueue, mayTakeMore } from '@wts/service-kit/fairness';
import { DISPATCH } from '../limits.ts';

/*
 * How many attempts run at once, and of whom. Keeps webhooks.fairness.neighbors.
 *
 * An attempt that hangs holds its place for ten seconds, so a few hundred endpoints that hang would hold every place there
 * is. So endpoints that are known to be slow share places of their own, and an attempt that turns out to be slow gives its
 * places back after a second, except that among all attempts: what hangs never holds a place that a quick endpoint waits for
 * any longer than that. An endpoint that is not known yet, because it never succeeded or failed last, waits among its like.
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
}

/** The right to make one attempt. */
export interface Slot {
  /** The attempt begins: from now on it is measured. */
  readonly begin: () => void;
  readonly free: () => void;
}

/** Places, given out to owners in turn, and to the attempts of one owner in the order in which they were asked for. */
class Places {
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

  /** Undefined when a place was free, so that no promise is made for it. */
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

/** As many places for each key; nothing is kept of a key without attempts, because the number of hosts has no bound. */
class KeyedPlaces {
  readonly #max: number;
  readonly #places = new Map<string, Places>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#places.size;
  }

  take(key: string, ownerId: string): Promise<void> | undefined {
    let places = this.#places.get(key);
    if (places === undefined) this.#places.set(key, (places = new Places(this.#max)));
    return places.take(ownerId);
  }

  free(key: string, ownerId: string): void {
    const places = this.#places.get(key);
    places?.free(ownerId);
    if (places?.isUnused === true) this.#places.delete(key);
  }
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #origins: KeyedPlaces;
  readonly #slowOrigins: KeyedPlaces;
  readonly #paces: Readonly<Record<Pace, Places>>;
  readonly #all: Places;
  /** Attempts that turned out to be slow, which hold only a place among all. */
  #late = 0;

  constructor(limits: SlotLimits = DISPATCH) {
    this.#limits = limits;
    this.#origins = new KeyedPlaces(limits.originSlots);
    this.#slowOrigins = new KeyedPlaces(limits.originSlowSlots);
    this.#paces = {
      quick: new Places(limits.quickSlots),
      slow: new Places(limits.slowSlots),
      unknown: new Places(limits.unknownSlots),
    };
    this.#all = new Places(limits.slotsMax);
  }

  /** Attempts that hold a place, by what they count as. */
  get taken(): Readonly<Record<Pace, number>> {
    const { quick, slow, unknown } = this.#paces;
    return { quick: quick.taken, slow: slow.taken + this.#late, unknown: unknown.taken };
  }

  /**
   * Always in this order. An attempt that waits for a place among all endpoints holds one of its origin by then, so that an
   * origin with many endpoints is represented there by a few. An endpoint that is not known counts as slow for its origin.
   */
  async take({ pace, origin, ownerId }: SlotRequest): Promise<Slot> {
    const places = this.#paces[pace];
    if (pace !== 'quick') await this.#slowOrigins.take(origin, ownerId);
    await this.#origins.take(origin, ownerId);
    await places.take(ownerId);
    await this.#all.take(ownerId);

    let timer: NodeJS.Timeout | undefined;
    let isEarly = true;
    const leaveEarly = (): void => {
      if (!isEarly) return;
      isEarly = false;
      this.#origins.free(origin, ownerId);
      if (pace !== 'quick') this.#slowOrigins.free(origin, ownerId);
      if (pace !== 'slow') places.free(ownerId);
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
        if (pace === 'slow') places.free(ownerId);
        this.#all.free(ownerId);
      },
    };
  }

  /** How many origins have an entry. */
  get keys(): number {
    return this.#origins.size + this.#slowOrigins.size;
  }
}
