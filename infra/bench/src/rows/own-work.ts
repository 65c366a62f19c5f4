import { HonestPerson, latencies, type RequestSample } from '@wts/verify';
import type { TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { GOALS } from '../goals.ts';
import { ms, number } from '../report.ts';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';

const READY_MS = 60_000;
const POLL_MS = 200;
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
 * How many tasks a second sync works off by itself, and how long an honest person waits meanwhile. The tasks are written by SQL; the
 * service starts anew, because a round of its work begins when it starts.
 */
export async function measureOwnWork(
  { testSystem, ours, authority, seconds }: BenchmarkContext,
  tasks: number,
  { what, prepare, isLeft }: OwnWork,
): Promise<BenchmarkResult> {
  await ours.seedTasks(tasks);
  const client = new Client({ connectionString: testSystem.database.url });
  // Without a handler, the error at the end of the server would end the process and hide the error before it.
  client.on('error', () => {});
  await client.connect();
  try {
    await restart(testSystem);
    await using honest = await HonestPerson.start(testSystem, await authority.issue());
    const calm = latencies(await samplesOf(honest, () => pause(seconds * 1000)));
    await prepare(client, ours.workspaceId);
    await client.query('vacuum analyze sync.tasks');
    await client.query('checkpoint');
    const count = await countLeft(client, isLeft);
    await restart(testSystem);
    const beganMs = performance.now();
    let doneMs = 0;
    const samples = await samplesOf(honest, async () => {
      doneMs = await untilDone(client, isLeft, beganMs);
      await pause(Math.max(0, beganMs + seconds * 1000 - performance.now()));
    });
    const perSecond = count / (doneMs / 1000);
    const { write } = latencies(samples);
    const [p50, p99] = [write.p50Ms / calm.write.p50Ms, write.p99Ms / calm.write.p99Ms];
    const refused = samples.filter(({ refusal }) => refusal !== null).length;
    const { p50RatioMax, p99RatioMax } = GOALS.neighbor;
    const row = {
      what: what(number(count)),
      ours: `${number(perSecond)}/s; a write beside it p50 ${ms(write.p50Ms)}, p99 ${ms(write.p99Ms)}; ${refused} refused`,
      against: `a write without it p50 ${ms(calm.write.p50Ms)}, p99 ${ms(calm.write.p99Ms)}`,
      ratio: `p50 ${p50.toFixed(1)}x, p99 ${p99.toFixed(1)}x`,
      goal: `p50 <= ${p50RatioMax}x, p99 <= ${p99RatioMax}x, 0 refused`,
      isReached: p50 <= p50RatioMax && p99 <= p99RatioMax && refused === 0,
    };
    return { rows: [row], raw: { perSecond, calm, write } };
  } finally {
    await client.end();
  }
}

async function restart(testSystem: TestSystem): Promise<void> {
  const sync = testSystem.service('sync');
  await sync.stop();
  await sync.start();
  await sync.untilReady(READY_MS);
}

async function samplesOf(honest: HonestPerson, during: () => Promise<unknown>): Promise<readonly RequestSample[]> {
  honest.take();
  honest.begin();
  await during();
  await honest.end();
  return honest.take();
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
