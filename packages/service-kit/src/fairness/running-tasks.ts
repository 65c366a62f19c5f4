import { LRUCache } from 'lru-cache';

/**
 * How long one counts as having long tasks after such a task, as a multiple of its duration. So who pauses between long tasks has more
 * slots than allowed with them for less than a tenth of the time.
 */
const LONG_REMEMBERED_TIMES = 10;
const REMEMBERED_MAX = 1_000;

export interface RunningTask {
  readonly startedAt: number;
  /** The network of its person when it started. */
  readonly network: string;
}

/** The running tasks of each person, or of each network. */
export class RunningTasks {
  readonly #longMs: number;
  /** The one that started first is first. */
  readonly #running = new Map<string, Set<RunningTask>>();
  /** Until when one counts as having long tasks. */
  readonly #longUntil = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  constructor(longMs: number) {
    this.#longMs = longMs;
  }

  of(name: string): number {
    return this.#running.get(name)?.size ?? 0;
  }

  add(name: string, task: RunningTask): void {
    const own = this.#running.get(name);
    if (own === undefined) this.#running.set(name, new Set([task]));
    else own.add(task);
  }

  end(name: string, task: RunningTask, now: number): void {
    const own = this.#running.get(name);
    own?.delete(task);
    if (own?.size === 0) this.#running.delete(name);
    const tookMs = now - task.startedAt;
    if (tookMs <= this.#longMs) return;
    this.#longUntil.set(name, Math.max(now + tookMs * LONG_REMEMBERED_TIMES, this.#longUntil.peek(name) ?? 0));
  }

  /** Whether one of them is long, or was a moment ago. */
  hasLong(name: string, now: number): boolean {
    if (this.#longMs === Infinity) return false;
    const [first] = this.#running.get(name) ?? [];
    const isLong = first !== undefined && now - first.startedAt > this.#longMs;
    return isLong || now < (this.#longUntil.peek(name) ?? -Infinity);
  }
}
