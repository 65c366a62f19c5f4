import { setTimeout as sleep } from 'node:timers/promises';

interface Patience {
  readonly deadlineMs?: number;
  readonly everyMs?: number;
}

const DEADLINE_MS = 10_000;

/**
 * Waits until `look` neither throws nor answers false, null or undefined, and gives back what it answered. The last
 * fault is the cause of the error when the deadline passes: a test says what it waits for, never how long.
 */
export async function eventually<T>(look: () => T | Promise<T>, patience: Patience = {}): Promise<NonNullable<T>> {
  const { deadlineMs = DEADLINE_MS, everyMs = 10 } = patience;
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    let fault: unknown;
    try {
      const seen = await look();
      if (seen !== false && seen !== null && seen !== undefined) return seen;
      fault = new Error(`it is ${String(seen)}`);
    } catch (error) {
      fault = error;
    }
    if (Date.now() >= deadline) {
      const text = fault instanceof Error ? fault.message : String(fault);
      throw new Error(`not so after ${deadlineMs} ms: ${text}`, { cause: fault });
    }
    await sleep(everyMs);
  }
}
