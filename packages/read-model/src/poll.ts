import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `read` until it returns a value. Null when there is none within the time. */
export async function poll<T>(
  read: () => Promise<T | null>,
  { everyMs, timeoutMs }: { readonly everyMs: number; readonly timeoutMs: number },
): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== null || performance.now() >= deadline) return value;
    await sleep(everyMs);
  }
}
