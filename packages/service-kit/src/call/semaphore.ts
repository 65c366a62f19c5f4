import { comeAgainSeconds, Fault } from '@wts/contracts';

/**
 * Runs a bounded number of tasks at once; the others wait in order. Thousands of clients that reconnect in the same second
 * must not take all of a process from the requests of the others.
 */
export class Semaphore {
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await task();
    } finally {
      // The place passes to the first task that waits, so that a new task cannot overtake it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

export interface SenderBounds {
  readonly atOnce: number;
  /** Beyond it the next one is refused. */
  readonly waitingMax: number;
  /** A task whose turn comes later is refused and not begun. */
  readonly waitMs: number;
}

/**
 * A semaphore for each sender: a sender with many tasks waits for its own. A sender without a task takes no memory. A task
 * keeps its place when its client has left, so the number of waiting tasks is bounded, and a task past its time ends at once.
 */
export class SenderSemaphores {
  readonly #bounds: SenderBounds;
  readonly #semaphores = new Map<string, { readonly semaphore: Semaphore; tasks: number }>();

  constructor(bounds: SenderBounds) {
    this.#bounds = bounds;
  }

  async run<T>(sender: string, task: () => Promise<T>): Promise<T> {
    const { atOnce, waitingMax, waitMs } = this.#bounds;
    const own = this.#semaphores.get(sender) ?? { semaphore: new Semaphore(atOnce), tasks: 0 };
    if (own.tasks >= atOnce + waitingMax) throw comeAgain();
    this.#semaphores.set(sender, own);
    own.tasks += 1;
    const endsAt = performance.now() + waitMs;
    try {
      return await own.semaphore.run(() => {
        if (performance.now() > endsAt) throw comeAgain();
        return task();
      });
    } finally {
      own.tasks -= 1;
      if (own.tasks === 0) this.#semaphores.delete(sender);
    }
  }
}

function comeAgain(): Fault {
  return new Fault('unavailable', {
    message: 'Too many credentials from your network are being checked; try again shortly',
    retryAfterSeconds: comeAgainSeconds(),
  });
}
