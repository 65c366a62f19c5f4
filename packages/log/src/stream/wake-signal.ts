import { setTimeout as sleep } from 'node:timers/promises';

/** Wakes one waiting loop. A notification is kept until the loop waits, so none is missed. */
export class WakeSignal {
  #isNotified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  /** True when notified within the time. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#isNotified && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const isNotified = this.#isNotified;
    this.#isNotified = false;
    return isNotified;
  }
}

/** Resolves after the time, or as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    // Aborted: the caller checks its signal.
  }
}
