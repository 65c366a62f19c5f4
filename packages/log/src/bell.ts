import { setTimeout as sleep } from 'node:timers/promises';

/** Wakes one waiting loop. A ring while nobody waits is kept, so nothing that happens before the wait is missed. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** True when rung within the time. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#rung && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung;
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
