import { comeAgainSeconds, Fault } from '@wts/contracts';

/**
 * Lets a bounded number of tasks run at once; the others wait in order. Thousands of clients that come back in the same
 * second must not take everything from those who only want to go on.
 */
export class Gate {
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
      // The place is handed on, so nobody who comes now overtakes those who wait.
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
 * A gate for each sender: a sender of much waits for its own tasks. Senders without a task take no memory. A task stays in
 * line when its client has left, so the line has a bound, and what is past its time makes room at once.
 */
export class SenderGates {
  readonly #bounds: SenderBounds;
  readonly #gates = new Map<string, { readonly gate: Gate; tasks: number }>();

  constructor(bounds: SenderBounds) {
    this.#bounds = bounds;
  }

  async run<T>(sender: string, task: () => Promise<T>): Promise<T> {
    const { atOnce, waitingMax, waitMs } = this.#bounds;
    const own = this.#gates.get(sender) ?? { gate: new Gate(atOnce), tasks: 0 };
    if (own.tasks >= atOnce + waitingMax) throw comeAgain();
    this.#gates.set(sender, own);
    own.tasks += 1;
    const endsAt = performance.now() + waitMs;
    try {
      return await own.gate.run(() => {
        if (performance.now() > endsAt) throw comeAgain();
        return task();
      });
    } finally {
      own.tasks -= 1;
      if (own.tasks === 0) this.#gates.delete(sender);
    }
  }
}

function comeAgain(): Fault {
  return new Fault('unavailable', {
    message: 'Too many credentials of your network are being looked up; try again shortly',
    retryAfterSeconds: comeAgainSeconds(),
  });
}
