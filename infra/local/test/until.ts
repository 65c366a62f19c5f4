import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something holds; the test kit has a better one, but it stands above this package. */
export async function until(what: string, holds: () => boolean, deadlineMs = 10_000): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`not so after ${deadlineMs} ms: ${what}`);
    await sleep(10);
  }
}
