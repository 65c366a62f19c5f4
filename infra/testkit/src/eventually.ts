import { setTimeout as sleep } from 'node:timers/promises';

interface WaitOptions {
  readonly deadlineMs?: number;
  readonly everyMs?: number;
}

/** Far more than a busy machine needs: it only ends a test that would wait forever. */
const DEADLINE_MS = 120_000;

/**
 * Calls `check` until it does not throw and does not return false, null or undefined, and resolves to its result. When the
 * deadline passes it rejects with the last error as the cause.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: WaitOptions = {}): Promise<NonNullable<T>> {
  const { deadlineMs = DEADLINE_MS, everyMs = 10 } = options;
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    let lastError: unknown;
    try {
      const result = await check();
      if (result !== false && result !== null && result !== undefined) return result;
      lastError = new Error(`the result is ${String(result)}`);
    } catch (error) {
      lastError = error;
    }
    if (Date.now() >= deadline) {
      const text = lastError instanceof Error ? lastError.message : String(lastError);
      throw new Error(`condition not met after ${deadlineMs} ms: ${text}`, { cause: lastError });
    }
    await sleep(everyMs);
  }
}
