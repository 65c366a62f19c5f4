import type { Arrival } from './receivers-worker.ts';

/** How many events of an endpoint arrived after a later one. */
export function outOfOrder(arrivals: readonly Arrival[]): number {
  const last = new Map<number, number>();
  let count = 0;
  for (const { nth, position } of arrivals) {
    if (position === null) continue;
    if (position <= (last.get(nth) ?? 0)) count += 1;
    last.set(nth, position);
  }
  return count;
}
