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

/** So many calls, `clients` at a time. */
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
  /** Calls answered, over the time until the last answer. */
  readonly perSecond: number;
  /** False when answers fell behind the pace. */
  readonly isKept: boolean;
}

/** A pace is kept while this much of it is answered. */
const KEPT_SHARE = 0.95;
/** With this many seconds' worth of calls unanswered no more are sent: it would only take longer to find out the same. */
const BEHIND_SECONDS_MAX = 2;

/** `perSecond` calls on a fixed clock, whether or not earlier ones were answered: a slow system cannot slow its own load down. */
export async function openLoop(perSecond: number, seconds: number, call: () => Promise<void>): Promise<Paced> {
  const startedMs = performance.now();
  const total = Math.round(perSecond * seconds);
  const calls: Promise<void>[] = [];
  let answered = 0;
  const isBehind = (): boolean => calls.length - answered > perSecond * BEHIND_SECONDS_MAX;
  const answer = (): void => {
    answered += 1;
  };
  while (calls.length < total && !isBehind()) {
    const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1000) * perSecond) + 1);
    while (calls.length < due) calls.push(call().then(answer));
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
