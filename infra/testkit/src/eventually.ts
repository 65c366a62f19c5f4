import { setTimeout as sleep } from 'node:timers/promises';

interface WaitOptions {
  readonly deadlineMs?: number;
  /** Default: 10, and 50 after half a second, because each look takes time of a processor that the awaited needs. */
  readonly everyMs?: number;
}

const [OFTEN_MS, SELDOM_MS, OFTEN_FOR_MS] = [10, 50, 500];

/** Far more than a busy machine needs: it only ends a test that would wait forever. */
const DEADLINE_MS = 120_000;

/**
 * Calls `check` until it does not throw and does not return false, null or undefined, and resolves to its result. When the
 * deadline passes it rejects with the last error as the cause.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: WaitOptions = {}): Promise<NonNullable<T>> {
  const { deadlineMs = DEADLINE_MS, everyMs } = options;
  const since = Date.now();
  const deadline = since + deadlineMs;
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
    await sleep(everyMs ?? (Date.now() - since < OFTEN_FOR_MS ? OFTEN_MS : SELDOM_MS));
  }
}
