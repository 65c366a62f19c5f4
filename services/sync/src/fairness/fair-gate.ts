import { Fault } from '@wts/contracts';
import { FairQueue, type Entry } from './fair-queue.ts';
import type { Rested, TimeShare } from './time-share.ts';

export interface FairGateOptions {
  /** Tasks at once. */
  readonly slots: number;
  /** The most that one person has of them, also when alone: where more at once would be no faster, and hold up the others. */
  readonly slotsOfOneMax?: number;
  /** The longest that a task may wait; what is not expected to begin within it is refused at once. */
  readonly waitMs: number;
  /** Tasks that wait, of all people together, and what they hold in memory. */
  readonly waitingMax: number;
  readonly waitingBytesMax?: number;
  /** Counts the time of large tasks: who had their share of it gets no slot until they have rested. */
  readonly timeShare?: TimeShare;
  /** The public reason of a refusal: `Too many snapshots are being read`. */
  readonly refusal: string;
  readonly watch?: FairGateWatch;
}

export interface FairGateWatch {
  onRunning?(count: number): void;
  onWaiting?(count: number): void;
  onRefused?(): void;
  /** Client gone, or no time left. */
  onDropped?(): void;
}

export interface FairTask {
  /** Aborts when the client is gone: a task that has not begun then never begins. */
  readonly signal?: AbortSignal;
  /** On the clock of `performance.now()`; none is later than `waitMs` allows. */
  readonly deadlineMs?: number;
  /** What it takes from the others, in any unit, as long as all tasks of the gate use the same. */
  readonly cost?: number;
  /** What it holds in memory while it waits. */
  readonly bytes?: number;
  /** It may keep a processor busy for long: its time counts. */
  readonly isLarge?: boolean;
}

interface Visitor {
  readonly enter: () => void;
  readonly refuse: (reason: unknown) => void;
}

const ALL_RESTED: Rested = { mayServe: () => true, soonestMs: Infinity };

/** What one person may have of a scarce thing while others wait for it. */
export const SHARE = 1 / 4;
/** With this many slots, one is never given to a person who has all the others: a slot cannot be taken back from a long task. */
const SLOTS_WITH_RESERVE_MIN = 4;
/** How much one task moves what a task is expected to take. */
const WEIGHT = 0.1;
const RETRY_SECONDS_MAX = 30;

/**
 * So many tasks at once, shared out by person. A free slot goes to the person who got least so far among those that have
 * less than their share of the slots, a quarter; when none of those waits, to anyone who does. One who is alone has all
 * slots but one: a slot that is taken is not taken back, and without the last one the next person would wait for the end of
 * a long task.
 *
 * What cannot begin in time is refused at once, by what is ahead of this person and how long tasks took lately. When the room
 * for waiting is full, the latest task of the person with the most in it makes room. A task whose client is gone never
 * begins. Keeps never.one-takes-all.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  readonly #queue = new FairQueue<Visitor>();
  readonly #share: number;
  readonly #aloneMax: number;
  readonly #running = new Map<string, number>();
  #underWay = 0;
  /** Set while a slot is free and all who wait rest. */
  #wakeUp: NodeJS.Timeout | undefined;
  /** Of one unit of cost. */
  #expectedMs = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
    this.#share = shareOf(options.slots);
    const reserved = options.slots < SLOTS_WITH_RESERVE_MIN ? 0 : 1;
    this.#aloneMax = Math.min(options.slots - reserved, options.slotsOfOneMax ?? Infinity);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get running(): number {
    return this.#underWay;
  }

  /** Whether a task that comes now would wait. */
  get isBusy(): boolean {
    return this.#underWay >= this.#options.slots;
  }

  /** Runs the task when it is this person's turn. Rejects with the reason of the signal, or `unavailable`. */
  async run<T>(person: string, options: FairTask, task: () => Promise<T>): Promise<T> {
    using _slot = await this.enter(person, options);
    return await task();
  }

  /** Resolves when there is a slot; disposing of the result gives it back. For work that is no single call. */
  async enter(person: string, options: FairTask = {}): Promise<Disposable> {
    options.signal?.throwIfAborted();
    const { cost = 1 } = options;
    const isResting = (this.#options.timeShare?.restMs(person) ?? 0) > 0;
    if (this.isBusy || isResting || this.#countOf(person) >= this.#aloneMax) await this.#wait(person, options);
    else this.#pass(person, cost);
    const startedAt = performance.now();
    let isLeft = false;
    return {
      [Symbol.dispose]: () => {
        if (isLeft) return;
        isLeft = true;
        const tookMs = performance.now() - startedAt;
        this.#learn(tookMs / cost);
        if (options.isLarge) this.#options.timeShare?.spent(person, tookMs);
        this.#leave(person);
      },
    };
  }

  /** Through the queue, because it counts what people take. While a slot is free only who has all others or rests waits. */
  #pass(person: string, cost: number): void {
    const visitor = { enter: () => undefined, refuse: () => undefined };
    this.#queue.push(person, visitor, { cost });
    this.#queue.shift((other) => other === person);
    this.#start(person);
  }

  async #wait(person: string, options: FairTask): Promise<void> {
    const { signal, cost = 1, bytes = 0 } = options;
    const now = performance.now();
    const leftMs = Math.min(this.#options.waitMs, (options.deadlineMs ?? Infinity) - now);
    // Looks at all who wait: not for each of thousands who come at once and will have their turn.
    const expectedMs = this.#queue.load.cost * this.#expectedMs > leftMs ? this.#waitMs(person, cost) : 0;
    if (expectedMs > leftMs) throw this.#refusal(expectedMs);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = this.#queue.push(person, { enter: resolve, refuse: reject }, { cost, bytes });
    this.#makeRoom();
    const drop = (reason: unknown): void => {
      if (!this.#queue.remove(entry)) return;
      this.#options.watch?.onDropped?.();
      this.#options.watch?.onWaiting?.(this.#queue.size);
      reject(reason);
    };
    const onAbort = (): void => drop(signal?.reason);
    const timer = setTimeout(() => drop(this.#refusal(this.#waitMs(person, cost))), Math.max(leftMs, 0));
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#options.watch?.onWaiting?.(this.#queue.size);
    if (!this.isBusy) this.#admit();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Too much waits: of the person with the most, the latest is refused. It may be the one that just came. */
  #makeRoom(): void {
    const { waitingMax, waitingBytesMax = Infinity } = this.#options;
    for (;;) {
      const { size, bytes } = this.#queue.load;
      if (size <= waitingMax && bytes <= waitingBytesMax) return;
      const last = this.#queue.lastOfHeaviest((load) => (size > waitingMax ? load.size : load.bytes));
      if (!last) return;
      const expectedMs = this.#waitMs(last.person, last.cost);
      this.#queue.remove(last);
      last.item.refuse(this.#refusal(expectedMs));
    }
  }

  /** How long a task of this person would wait that comes now. */
  #waitMs(person: string, cost: number): number {
    const { slots } = this.#options;
    const own = this.#queue.of(person);
    const hasOthers = this.#queue.people > (own.size > 0 ? 1 : 0);
    const all = this.#queue.ahead(person, cost) / slots;
    return this.#expectedMs * Math.max(all, own.cost / (hasOthers ? this.#share : this.#aloneMax));
  }

  #refusal(expectedMs: number): Fault {
    this.#options.watch?.onRefused?.();
    return new Fault('unavailable', {
      message: `${this.#options.refusal}; try again shortly`,
      retryAfterSeconds: retryAfterSeconds(expectedMs),
    });
  }

  #start(person: string): void {
    this.#underWay += 1;
    this.#running.set(person, this.#countOf(person) + 1);
    this.#options.watch?.onRunning?.(this.#underWay);
  }

  #leave(person: string): void {
    const left = this.#countOf(person) - 1;
    if (left > 0) this.#running.set(person, left);
    else this.#running.delete(person);
    this.#underWay -= 1;
    this.#options.watch?.onRunning?.(this.#underWay);
    this.#admit();
    if (this.#underWay === 0) this.#queue.reset();
  }

  #admit(): void {
    clearTimeout(this.#wakeUp);
    const rested = this.#options.timeShare?.rested() ?? ALL_RESTED;
    while (!this.isBusy && this.#queue.size > 0) {
      const next = this.#next(rested);
      if (!next) break;
      this.#start(next.person);
      this.#options.watch?.onWaiting?.(this.#queue.size);
      next.item.enter();
    }
    const { soonestMs } = rested;
    if (!this.isBusy && soonestMs < Infinity) this.#wakeUp = setTimeout(() => this.#admit(), soonestMs);
  }

  #next({ mayServe }: Rested): Entry<Visitor> | undefined {
    return (
      this.#queue.shift((person) => this.#countOf(person) < this.#share && mayServe(person)) ??
      this.#queue.shift((person) => this.#countOf(person) < this.#aloneMax && mayServe(person))
    );
  }

  #countOf(person: string): number {
    return this.#running.get(person) ?? 0;
  }

  #learn(ms: number): void {
    this.#expectedMs = this.#expectedMs === 0 ? ms : this.#expectedMs + (ms - this.#expectedMs) * WEIGHT;
  }
}

/** Of something that is had `slots` times, what one person may have while others wait. */
function shareOf(slots: number): number {
  return Math.max(1, Math.ceil(slots * SHARE));
}

/** Honest, and spread a little, so that those who were refused together do not come back together. */
export function retryAfterSeconds(expectedMs: number): number {
  const seconds = Math.ceil((expectedMs / 1000) * (1 + Math.random() / 2));
  return Math.min(Math.max(seconds, 1), RETRY_SECONDS_MAX);
}
