import { setTimeout as pause } from 'node:timers/promises';

export interface Measured {
  /** Operations; a call may consist of several. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/**
 * `clients` callers, each of which calls at least once, and again as soon as it has the reply until the time is over. The call returns
 * its number of operations.
 */
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
    do {
      const sentMs = performance.now();
      // In one expression, the sum would be read before the wait, and the counts of other clients lost.
      const count = await call(index);
      operations += count;
      latenciesMs.push(performance.now() - sentMs);
    } while (performance.now() < endMs);
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return { perSecond: operations / ((performance.now() - startedMs) / 1000), ...percentiles(latenciesMs) };
}

/** Makes `count` calls, `clients` in parallel. */
export async function inParallel(clients: number, count: number, call: () => Promise<unknown>): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

export interface Paced {
  /** Replies per second. */
  readonly perSecond: number;
  /** False: the target was slower than the load. */
  readonly isKept: boolean;
}

/** A target keeps the pace when it replies to this share of the calls. */
const KEPT_SHARE = 0.95;
/** The loop stops when so many seconds' worth of calls are pending, because the target does not keep the pace. */
const BEHIND_SECONDS_MAX = 2;

/** Makes `perSecond` calls by the clock, also while earlier calls are pending, so that a slow target cannot reduce its load. */
export async function openLoop(perSecond: number, seconds: number, call: () => Promise<void>): Promise<Paced> {
  const startedMs = performance.now();
  const total = Math.round(perSecond * seconds);
  const calls: Promise<void>[] = [];
  let replies = 0;
  const isBehind = (): boolean => calls.length - replies > perSecond * BEHIND_SECONDS_MAX;
  const onReply = (): void => {
    replies += 1;
  };
  while (calls.length < total && !isBehind()) {
    const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1000) * perSecond) + 1);
    while (calls.length < due) calls.push(call().then(onReply));
    await pause(1);
  }
  await Promise.all(calls);
  const reached = calls.length / ((performance.now() - startedMs) / 1000);
  return { perSecond: reached, isKept: calls.length === total && reached >= perSecond * KEPT_SHARE };
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}
