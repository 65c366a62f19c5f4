import { connectTo, type TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { GOALS } from '../goals.ts';
import { percentiles, type Percentiles } from '../load.ts';
import { peopleOf } from '../people.ts';
import { ms, number } from '../report.ts';
import { mutate, openClients, type Writer } from '../traffic.ts';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';

const READY_MS = 60_000;
const POLL_MS = 200;
/** Of a person who writes: 20 changes a second. */
const PACE_MS = 50;
/** Without a task less for this long, the work does not run. */
const STALLED_MS = 60_000;

/** What sync does by itself. */
export interface OwnWork {
  /** As in `purge of 100,000 tasks`. */
  readonly what: (tasks: string) => string;
  /** Makes all tasks of a workspace due. */
  readonly prepare: (client: Client, workspaceId: string) => Promise<void>;
  /** The condition of the tasks that are left to do. */
  readonly isLeft: string;
}

/**
 * How many tasks a second sync works off by itself, and how long the changes of another person take meanwhile. The tasks are written
 * by SQL; the service starts anew, because a round of its work begins when it starts.
 */
export async function measureOwnWork(
  { testSystem, ours, seconds }: BenchmarkContext,
  tasks: number,
  { what, prepare, isLeft }: OwnWork,
): Promise<BenchmarkResult> {
  await ours.seedTasks(tasks);
  const [writer = ours] = await peopleOf(testSystem, 1);
  await using client = await connectTo(testSystem.database.url);
  await restart(testSystem);
  const calm = await writesDuring(ours.baseUrl, writer, () => pause(seconds * 1000));
  await prepare(client, ours.workspaceId);
  await client.query('vacuum analyze sync.tasks');
  await client.query('checkpoint');
  await restart(testSystem);
  // It has begun before the service was ready.
  const count = await countLeft(client, isLeft);
  const beganMs = performance.now();
  let doneMs = 0;
  const beside = await writesDuring(ours.baseUrl, writer, async () => {
    doneMs = await untilDone(client, isLeft, beganMs);
  });
  const perSecond = count / (doneMs / 1000);
  const [p50, p99] = [beside.p50Ms / calm.p50Ms, beside.p99Ms / calm.p99Ms];
  const { p50RatioMax, p99RatioMax } = GOALS.neighbor;
  const row = {
    what: what(number(tasks)),
    ours: `${number(perSecond)}/s; a change beside it p50 ${ms(beside.p50Ms)}, p99 ${ms(beside.p99Ms)}`,
    against: `a change without it p50 ${ms(calm.p50Ms)}, p99 ${ms(calm.p99Ms)}`,
    ratio: `p50 ${p50.toFixed(1)}x, p99 ${p99.toFixed(1)}x`,
    goal: `p50 <= ${p50RatioMax}x, p99 <= ${p99RatioMax}x`,
    isReached: p50 <= p50RatioMax && p99 <= p99RatioMax,
  };
  return { rows: [row], raw: { perSecond, calm, beside } };
}

/** The latencies of a person who makes one change after the other, at least one. A refused change ends the benchmark. */
async function writesDuring(baseUrl: string, writer: Writer, during: () => Promise<unknown>): Promise<Percentiles> {
  await using pool = openClients(baseUrl, 1);
  const latenciesMs: number[] = [];
  let isOver = false;
  const over = during().finally(() => (isOver = true));
  // A refused change ends the loop before it is awaited.
  void over.catch(() => undefined);
  do {
    const startedMs = performance.now();
    await mutate(pool, writer, 1);
    latenciesMs.push(performance.now() - startedMs);
    await pause(PACE_MS);
  } while (!isOver);
  await over;
  return percentiles(latenciesMs);
}

async function restart(testSystem: TestSystem): Promise<void> {
  const sync = testSystem.service('sync');
  await sync.stop();
  await sync.start();
  await sync.untilReady(READY_MS);
}

async function countLeft(client: Client, isLeft: string): Promise<number> {
  const { rows } = await client.query<{ left: number }>(`select count(*)::int as left from sync.tasks where ${isLeft}`);
  return rows[0]?.left ?? 0;
}

/** The time from the beginning until no task was left. */
async function untilDone(client: Client, isLeft: string, beganMs: number): Promise<number> {
  let changedMs = performance.now();
  for (let left = Infinity; ;) {
    const now = await countLeft(client, isLeft);
    if (now === 0) return performance.now() - beganMs;
    if (now < left) changedMs = performance.now();
    if (performance.now() - changedMs > STALLED_MS) throw new Error(`the work does not run; ${now} tasks are left`);
    left = now;
    await pause(POLL_MS);
  }
}
