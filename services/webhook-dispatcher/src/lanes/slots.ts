import { DISPATCH } from '../limits.ts';

/*
 * How many attempts run at once, and of whom. Keeps webhooks.fairness.neighbors.
 *
 * An attempt that hangs holds its place for ten seconds, so a few hundred endpoints that hang would hold every place there
 * is. So endpoints that are known to be slow share places of their own, and an attempt that turns out to be slow gives its
 * place back after a second: what hangs never holds a place that a quick endpoint waits for any longer than that. An
 * endpoint that is not known yet, because it never succeeded or failed last, waits among its like.
 */

export type Pace = 'quick' | 'slow' | 'unknown';

export interface SlotRequest {
  readonly pace: Pace;
  readonly origin: string;
  readonly workspaceId: string;
}

export interface SlotLimits {
  readonly quickSlots: number;
  readonly slowSlots: number;
  readonly unknownSlots: number;
  readonly slotsMax: number;
  readonly originSlots: number;
  readonly originSlowSlots: number;
  readonly workspaceSlots: number;
  readonly quickMs: number;
}

/** The right to make one attempt. */
export interface Slot {
  /** The attempt begins: from now on it is measured. */
  readonly begin: () => void;
  readonly free: () => void;
}

/** Places, given out in the order in which they were asked for. */
class Places {
  readonly max: number;
  taken = 0;
  #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.max = max;
  }

  get isUnused(): boolean {
    return this.taken === 0 && this.#waiting.length === 0;
  }

  /** Undefined when a place was free, so that no promise is made for it. */
  take(): Promise<void> | undefined {
    if (this.taken < this.max && this.#waiting.length === 0) {
      this.taken += 1;
      return undefined;
    }
    return new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Beyond the bound, when what is taken was taken elsewhere before. */
  takeAnyway(): void {
    this.taken += 1;
  }

  free(): void {
    const next = this.taken > this.max ? undefined : this.#waiting.shift();
    if (next === undefined) this.taken -= 1;
    else next();
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

  take(key: string): Promise<void> | undefined {
    let places = this.#places.get(key);
    if (places === undefined) this.#places.set(key, (places = new Places(this.#max)));
    return places.take();
  }

  free(key: string): void {
    const places = this.#places.get(key);
    places?.free();
    if (places?.isUnused === true) this.#places.delete(key);
  }
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #workspaces: KeyedPlaces;
  readonly #origins: KeyedPlaces;
  readonly #slowOrigins: KeyedPlaces;
  readonly #paces: Readonly<Record<Pace, Places>>;
  readonly #all: Places;

  constructor(limits: SlotLimits = DISPATCH) {
    this.#limits = limits;
    this.#workspaces = new KeyedPlaces(limits.workspaceSlots);
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
    return { quick: quick.taken, slow: slow.taken, unknown: unknown.taken };
  }

  /**
   * Always in this order. An attempt that waits for a place among all endpoints holds one of its workspace and its origin by then,
   * so that a workspace or an origin with many endpoints is represented there by a few.
   */
  async take({ pace, origin, workspaceId }: SlotRequest): Promise<Slot> {
    await this.#workspaces.take(workspaceId);
    if (pace === 'slow') await this.#slowOrigins.take(origin);
    await this.#origins.take(origin);
    let places = this.#paces[pace];
    await places.take();
    await this.#all.take();

    let timer: NodeJS.Timeout | undefined;
    const becomeSlow = (): void => {
      places.free();
      places = this.#paces.slow;
      places.takeAnyway();
    };
    return {
      begin: () => {
        if (pace !== 'slow') timer = setTimeout(becomeSlow, this.#limits.quickMs);
      },
      free: () => {
        clearTimeout(timer);
        this.#all.free();
        places.free();
        this.#origins.free(origin);
        if (pace === 'slow') this.#slowOrigins.free(origin);
        this.#workspaces.free(workspaceId);
      },
    };
  }

  /** How many origins and workspaces have an entry. */
  get keys(): number {
    return this.#workspaces.size + this.#origins.size + this.#slowOrigins.size;
  }
}
