import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again until there is an answer. Null when there is none within the time. */
export async function poll<T>(
  ask: () => Promise<T | null>,
  { everyMs, timeoutMs }: { readonly everyMs: number; readonly timeoutMs: number },
): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null || performance.now() >= deadline) return answer;
    await sleep(everyMs);
  }
}
