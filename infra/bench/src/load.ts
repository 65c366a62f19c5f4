import { setTimeout as pause } from 'node:timers/promises';

export interface Measured {
  /** Operations counted, as each call says how many it was. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** `clients` callers, each calling again as soon as it was answered. The call returns how many operations it did. */
export async function closedLoop(
  clients: number,
  seconds: number,
  call: (client: number) => Promise<number>,
): Promise<Measured> {
  const latenciesMs: number[] = [];
  let operations = 0;
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  const client = async (index: number): Promise<void> => {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      const done = await call(index);
      operations += done;
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return { perSecond: operations / ((performance.now() - startedMs) / 1000), ...percentiles(latenciesMs) };
}

/** `perSecond` calls on a fixed clock, whether or not earlier ones were answered: a slow system cannot slow its own load down. */
export async function openLoop(perSecond: number, seconds: number, call: () => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  const total = Math.round(perSecond * seconds);
  const calls: Promise<void>[] = [];
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1000) * perSecond) + 1);
    for (; sent < due; sent += 1) calls.push(call());
    await pause(1);
  }
  await Promise.all(calls);
}

export function percentiles(values: readonly number[]): { p50Ms: number; p95Ms: number; p99Ms: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}

/** The middle one of several rounds by a measure: one disturbed round does not decide. */
export function median<T>(rounds: readonly T[], measure: (round: T) => number): T {
  const middle = rounds.toSorted((a, b) => measure(a) - measure(b))[rounds.length >> 1];
  if (middle === undefined) throw new Error('a benchmark needs at least one round');
  return middle;
}
