import { setTimeout as pause } from 'node:timers/promises';

/** Resolves after a time, or when it stops. */
export function rest(ms: number, stop: AbortSignal): Promise<void> {
  return pause(Math.max(0, ms), undefined, { signal: stop }).catch(() => undefined);
}

export async function every(ms: number, stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await rest(ms, stop);
    if (!stop.aborted) await work();
  }
}
