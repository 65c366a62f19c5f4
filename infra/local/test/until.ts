import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition. `eventually` of the testkit cannot be used, because the testkit depends on this package. */
export async function until(what: string, isMet: () => boolean, deadlineMs = 120_000): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!isMet()) {
    if (Date.now() > deadline) throw new Error(`not met after ${deadlineMs} ms: ${what}`);
    await sleep(10);
  }
}
