import { LRUCache } from 'lru-cache';
import { Fault } from '@wts/contracts';
import type { NetworkOf } from './caller-networks.ts';
import { CalmTimes } from './calm-times.ts';
import { SHARE, type Contention, type Eligibility } from './contention.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';
import { RunningTasks, type RunningTask } from './running-tasks.ts';

export interface FairGateOptions {
  /** Tasks that run in parallel. */
  readonly slots: number;
  /** Without it, or `contention`, which has it, each person counts alone. */
  readonly networkOf?: NetworkOf;
  /** The most slots of one person; with `contention`, of one who must yield. A network gets half of the others too. */
  readonly slotsOfOneMax?: number;
  /**
   * With it, `slotsOfOneMax` applies to a person with a task that runs longer than this, and for ten times as long as it ran.
   * Slots of short tasks are soon free for others, so a person who is alone may have nearly all of them.
   */
  readonly longMs?: number;
  /** The longest that a task may wait; a task that is expected to wait longer is refused immediately. */
  readonly waitMs: number;
  /** Bounds of all waiting tasks together: their number, and the memory they hold. */
  readonly waitingMax: number;
  readonly waitingBytesMax?: number;
  /** Learns who waits and what large tasks take: a person who must yield is paused, and has `slotsOfOneMax` slots. */
  readonly contention?: Contention;
  /** Begins the public text of a refusal: `Too many snapshots are being read`. */
  readonly refusal: string;
  readonly watch?: FairGateWatch;
}

export interface FairGateWatch {
  onRunning?(count: number): void;
  onWaiting?(count: number): void;
  onRefused?(): void;
  /** The client disconnected, or the deadline passed. */
  onDropped?(): void;
}

export interface FairTask {
  /** Aborts when the client disconnects; a waiting task then never starts. */
  readonly signal?: AbortSignal;
  /** On the clock of `performance.now()`; `waitMs` applies too. */
  readonly deadlineMs?: number;
  /** How much it takes from other people; all tasks of a gate use the same unit. */
  readonly cost?: number;
  /** The memory it holds while it waits. */
  readonly bytes?: number;
  /** It may use much processor time, so `contention` counts it. */
  readonly isLarge?: boolean;
  /**
   * Tasks of one kind usually take equally long. What one takes longer while most slots are taken, it waited for others who keep
   * busy what the slots share, and `contention` counts it.
   */
  readonly kind?: string;
}

interface Waiter {
  readonly enter: (task: RunningTask) => void;
  readonly refuse: (reason: unknown) => void;
}

/** Who gets a slot before others. */
interface Preference {
  readonly ofPerson?: (person: string) => boolean;
  readonly ofNetwork?: (network: string) => boolean;
}

const ALL_ELIGIBLE: Eligibility = { mayServe: () => true, mayServeNetwork: () => true, soonestMs: Infinity };

/** With this many slots, no network gets the last one, because a slot cannot be taken back from a long task. */
const SLOTS_WITH_RESERVE_MIN = 4;
/** The weight of the latest task in the moving average of durations. */
const WEIGHT = 0.1;
const RETRY_SECONDS_MAX = 30;
const REMEMBERED_MAX = 1_000;

/**
 * Runs a bounded number of tasks in parallel, with slots divided by network, and within a network by person. A free slot is given to
 * who got least so far among the networks with less than a quarter of the slots; when none of those waits, to anyone who does. A
 * network that is alone gets all slots but one, also for one person: a slot is never taken back, so without a spare slot the next
 * caller would wait for the end of a long task. With `longMs`, who has long tasks leaves more slots to others.
 *
 * A task that is not expected to start in time is refused immediately, by the cost ahead of it and the recent duration of
 * this person's tasks. When too much waits, the latest task of the person with the most waiting is refused. A task whose client has
 * disconnected never starts. Keeps never.one-takes-all.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  readonly #queue: FairQueue<Waiter>;
  readonly #share: number;
  /** The most slots of a network, and of a person when `slotsOfOneMax` does not apply. */
  readonly #aloneMax: number;
  readonly #slotsOfOneMax: number;
  /** The most slots of a network that must yield or has long tasks: those that one of its people may have, and half of the others. */
  readonly #limitedMax: number;
  readonly #ofPeople: RunningTasks;
  readonly #ofNetworks: RunningTasks;
  #runningCount = 0;
  /** Set while a slot is free and all people who wait are paused. */
  #wakeUp: NodeJS.Timeout | undefined;
  /** The expected duration of one unit of cost, of each person, because the tasks of one may take much longer than those of others. */
  readonly #expectedMsOf = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  readonly #calmTimes = new CalmTimes();
  /** The same of all people, for a person without a task before. */
  #expectedMs = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
    const { slots, slotsOfOneMax = Infinity, longMs = Infinity, contention } = options;
    this.#queue = new FairQueue(options.networkOf ?? contention?.networkOf);
    this.#share = shareOf(slots);
    this.#aloneMax = slots - (slots < SLOTS_WITH_RESERVE_MIN ? 0 : 1);
    this.#slotsOfOneMax = Math.min(slotsOfOneMax, this.#aloneMax);
    this.#limitedMax = Math.ceil((this.#slotsOfOneMax + this.#aloneMax) / 2);
    this.#ofPeople = new RunningTasks(longMs);
    this.#ofNetworks = new RunningTasks(longMs);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get running(): number {
    return this.#runningCount;
  }

  /** Whether a new task would wait. */
  get isBusy(): boolean {
    return this.#runningCount >= this.#options.slots;
  }

  /** Runs the task when it is this person's turn. Rejects with the signal's reason, or with `unavailable`. */
  async run<T>(person: string, options: FairTask, task: () => Promise<T>): Promise<T> {
    using _slot = await this.enter(person, options);
    return await task();
  }

  /** Resolves with a slot, which the caller gives back by disposing of it. For work that is not a single call. */
  async enter(person: string, options: FairTask = {}): Promise<Disposable> {
    options.signal?.throwIfAborted();
    const { cost = 1 } = options;
    const isPaused = (this.#options.contention?.pauseMs(person) ?? 0) > 0;
    const mayStart =
      !this.isBusy && !isPaused && this.#networkMayHaveMore(this.#queue.networkOf(person)) && this.#mayHaveMore(person);
    // Tasks of a person start in order. Some may wait although one could start: a pause ends before the timer that ends the wait.
    const started =
      mayStart && this.#queue.of(person).size === 0 ? this.#startNow(person, cost) : await this.#wait(person, options);
    let isFreed = false;
    return {
      [Symbol.dispose]: () => {
        if (isFreed) return;
        isFreed = true;
        const now = performance.now();
        const tookMs = now - started.startedAt;
        this.#updateExpected(person, tookMs / cost);
        if (options.isLarge) this.#options.contention?.used(person, tookMs);
        this.#noteSlowness(person, options.kind, tookMs);
        this.#free(person, started);
      },
    };
  }

  #noteSlowness(person: string, kind: string | undefined, tookMs: number): void {
    if (kind === undefined) return;
    const waitedMs = this.#calmTimes.waitedMs(kind, tookMs);
    if (this.#runningCount > this.#options.slots / 2) this.#options.contention?.waited(person, waitedMs);
  }

  /** Takes its entry, the only one of this person, through the queue, which counts the use of people. */
  #startNow(person: string, cost: number): RunningTask {
    const waiter = { enter: () => undefined, refuse: () => undefined };
    this.#queue.serve(this.#queue.push(person, waiter, { cost }));
    return this.#start(person);
  }

  async #wait(person: string, options: FairTask): Promise<RunningTask> {
    const { signal, cost = 1, bytes = 0 } = options;
    const now = performance.now();
    const leftMs = Math.min(this.#options.waitMs, (options.deadlineMs ?? Infinity) - now);
    // `#waitMs` visits all people who wait, so it is skipped when the whole queue is shorter than the limit.
    const isShort = this.#queue.load.cost * this.#taskMs(person) <= leftMs;
    const expectedMs = isShort ? 0 : this.#waitMs(person, cost);
    if (expectedMs > leftMs) throw this.#refusal(expectedMs);
    const waitsForOthers = this.#ofPeople.of(person) < this.#share;
    const { promise, resolve, reject } = Promise.withResolvers<RunningTask>();
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
      return await promise;
    } finally {
      if (waitsForOthers) this.#options.contention?.waited(person, performance.now() - now);
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** While too much waits, refuses the latest task of the person with the most; it may be the new one. */
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

  /**
   * How long a new task of this person would wait. By the duration of their own tasks: slots are divided by person, so those of
   * others delay only the first of them.
   */
  #waitMs(person: string, cost: number): number {
    const { slots } = this.#options;
    const own = this.#queue.of(person);
    const hasOthers = this.#queue.people > (own.size > 0 ? 1 : 0);
    const all = this.#queue.ahead(person, cost) / slots;
    return this.#taskMs(person) * Math.max(all, own.cost / (hasOthers ? this.#share : this.#maxOf(person)));
  }

  #refusal(expectedMs: number): Fault {
    this.#options.watch?.onRefused?.();
    return new Fault('unavailable', {
      message: `${this.#options.refusal}; try again shortly`,
      retryAfterSeconds: retryAfterSeconds(expectedMs),
    });
  }

  #start(person: string): RunningTask {
    const task = { startedAt: performance.now(), network: this.#queue.networkOf(person) };
    this.#runningCount += 1;
    this.#ofPeople.add(person, task);
    this.#ofNetworks.add(task.network, task);
    this.#options.watch?.onRunning?.(this.#runningCount);
    return task;
  }

  #free(person: string, task: RunningTask): void {
    const now = performance.now();
    this.#ofPeople.end(person, task, now);
    this.#ofNetworks.end(task.network, task, now);
    this.#runningCount -= 1;
    this.#options.watch?.onRunning?.(this.#runningCount);
    this.#admit();
    if (this.#runningCount === 0) this.#queue.reset();
  }

  #admit(): void {
    clearTimeout(this.#wakeUp);
    const eligibility = this.#options.contention?.eligibility() ?? ALL_ELIGIBLE;
    while (!this.isBusy && this.#queue.size > 0) {
      const next = this.#next(eligibility);
      if (!next) break;
      const task = this.#start(next.person);
      this.#options.watch?.onWaiting?.(this.#queue.size);
      next.item.enter(task);
    }
    const { soonestMs } = eligibility;
    if (!this.isBusy && soonestMs < Infinity) this.#wakeUp = setTimeout(() => this.#admit(), soonestMs);
  }

  #next(eligibility: Eligibility): QueueEntry<Waiter> | undefined {
    const half = this.#options.slots / 2;
    const runningOf = (network: string): number => this.#ofNetworks.of(network);
    return (
      this.#shift(eligibility, { ofNetwork: (network) => runningOf(network) < this.#share }) ??
      // Until two busy networks have half each; in one network, people with less than a share come first.
      this.#shift(eligibility, {
        ofPerson: (person) =>
          this.#ofPeople.of(person) < this.#share || runningOf(this.#queue.networkOf(person)) < half,
      }) ??
      this.#shift(eligibility, {})
    );
  }

  #shift(
    { mayServe, mayServeNetwork }: Eligibility,
    { ofPerson = () => true, ofNetwork = () => true }: Preference,
  ): QueueEntry<Waiter> | undefined {
    return this.#queue.shift(
      (person) => ofPerson(person) && this.#mayHaveMore(person) && mayServe(person),
      (network) => ofNetwork(network) && this.#networkMayHaveMore(network) && mayServeNetwork(network),
    );
  }

  #mayHaveMore(person: string): boolean {
    if (this.#ofPeople.of(person) >= this.#maxOf(person)) return false;
    const mustYield = this.#options.contention?.mustYield(person) === true;
    return !mustYield || this.#ofNetworks.of(this.#queue.networkOf(person)) < this.#limitedMax;
  }

  #networkMayHaveMore(network: string): boolean {
    const isLimited =
      this.#options.contention?.networkMustYield(network) === true ||
      this.#ofNetworks.hasLong(network, performance.now());
    return this.#ofNetworks.of(network) < (isLimited ? this.#limitedMax : this.#aloneMax);
  }

  /** The slots that a person may have when no other person waits. */
  #maxOf(person: string): number {
    const { longMs, contention } = this.#options;
    const isAlways = longMs === undefined && contention === undefined;
    return isAlways || contention?.mustYield(person) || this.#ofPeople.hasLong(person, performance.now())
      ? this.#slotsOfOneMax
      : this.#aloneMax;
  }

  /** The expected duration of one unit of cost of this person. */
  #taskMs(person: string): number {
    return this.#expectedMsOf.peek(person) ?? this.#expectedMs;
  }

  #updateExpected(person: string, ms: number): void {
    this.#expectedMs = averageOf(this.#expectedMs, ms);
    this.#expectedMsOf.set(person, averageOf(this.#expectedMsOf.peek(person) ?? 0, ms));
  }
}

function averageOf(before: number, ms: number): number {
  return before === 0 ? ms : before + (ms - before) * WEIGHT;
}

/** The slots that one person may have while others wait. */
function shareOf(slots: number): number {
  return Math.max(1, Math.ceil(slots * SHARE));
}

/** The expected wait, with some jitter, so that clients that were refused together do not retry together. */
export function retryAfterSeconds(expectedMs: number): number {
  const seconds = Math.ceil((expectedMs / 1000) * (1 + Math.random() / 2));
  return Math.min(Math.max(seconds, 1), RETRY_SECONDS_MAX);
}
