import { comeAgainSeconds, Fault, LIMITS } from '@wts/contracts';

export interface AdmissionWatch {
  onRunning(count: number): void;
  onQueued(count: number): void;
  onRefused(): void;
}

interface Waiting {
  readonly enter: () => void;
}

/**
 * So many at once, so many waiting, and the rest told to come again: a herd must not take every connection.
 * Keeps sync.bootstrap.herd.
 */
export class Admission {
  readonly #slots: number;
  readonly #watch: AdmissionWatch;
  readonly #queue: Waiting[] = [];
  #running = 0;

  constructor(slots: number, watch: AdmissionWatch) {
    this.#slots = slots;
    this.#watch = watch;
  }

  get isBusy(): boolean {
    return this.#running >= this.#slots;
  }

  /** Resolves when there is a place; disposing of the result gives it back. */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#running < this.#slots) this.#start();
    else await this.#wait(signal);
    let isLeft = false;
    return {
      [Symbol.dispose]: () => {
        if (isLeft) return;
        isLeft = true;
        this.#leave();
      },
    };
  }

  refuse(): Fault {
    this.#watch.onRefused();
    return new Fault('unavailable', {
      message: 'Too many snapshots are being read; try again shortly',
      retryAfterSeconds: comeAgainSeconds(),
    });
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#queue.length >= LIMITS.snapshotQueueMax) throw this.refuse();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { enter: resolve };
    const giveUp = (reason: unknown): void => {
      const place = this.#queue.indexOf(waiting);
      if (place === -1) return;
      this.#queue.splice(place, 1);
      this.#watch.onQueued(this.#queue.length);
      reject(reason);
    };
    const onAbort = (): void => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(this.refuse()), LIMITS.snapshotWaitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#queue.push(waiting);
    this.#watch.onQueued(this.#queue.length);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #start(): void {
    this.#running += 1;
    this.#watch.onRunning(this.#running);
  }

  /** The place goes to whoever waits longest, without being free in between. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) {
      this.#running -= 1;
      this.#watch.onRunning(this.#running);
      return;
    }
    this.#watch.onQueued(this.#queue.length);
    next.enter();
  }
}
