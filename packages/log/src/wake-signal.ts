import { setTimeout as sleep } from 'node:timers/promises';

/** Wakes one waiting loop. A ring while nobody waits is kept, so nothing that happens before the wait is missed. */
export class WakeSignal {
  #notified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** True when rung within the time. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#notified && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const notified = this.#notified;
    this.#notified = false;
    return notified;
  }
}

/** Resolves after the time, or at once when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    // Aborted: the caller looks at its signal next.
  }
}
