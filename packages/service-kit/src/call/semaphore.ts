import { randomRetryAfterSeconds, Fault } from '@wts/contracts';

/**
 * Runs a bounded number of tasks concurrently; the others wait in order, so that thousands of clients that reconnect in the same
 * second leave time for other requests.
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
      // The first waiting task starts before any new one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

export interface SenderBounds {
  readonly atOnce: number;
  /** More waiting tasks are refused. */
  readonly waitingMax: number;
  /** A task that waited longer is refused and not started. */
  readonly waitMs: number;
  /** The public text of a refusal. */
  readonly refusal: string;
}

/**
 * A semaphore for each sender, so that a sender with many tasks delays only its own. A sender without a task takes no memory. A
 * task waits on when its client disconnects, so the number of waiting tasks and their time are bounded.
 */
export class SenderSemaphores {
  readonly #bounds: SenderBounds;
  readonly #semaphores = new Map<string, { readonly semaphore: Semaphore; tasks: number }>();

  constructor(bounds: SenderBounds) {
    this.#bounds = bounds;
  }

  async run<T>(sender: string, task: () => Promise<T>): Promise<T> {
    const { atOnce, waitingMax, waitMs, refusal } = this.#bounds;
    const own = this.#semaphores.get(sender) ?? { semaphore: new Semaphore(atOnce), tasks: 0 };
    if (own.tasks >= atOnce + waitingMax) throw tooMany(refusal);
    this.#semaphores.set(sender, own);
    own.tasks += 1;
    const endsAt = performance.now() + waitMs;
    try {
      return await own.semaphore.run(() => {
        if (performance.now() > endsAt) throw tooMany(refusal);
        return task();
      });
    } finally {
      own.tasks -= 1;
      if (own.tasks === 0) this.#semaphores.delete(sender);
    }
  }
}

function tooMany(message: string): Fault {
  return new Fault('unavailable', { message, retryAfterSeconds: randomRetryAfterSeconds() });
}
