import type { TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { GOALS } from '../goals.ts';
import { percentiles, type Percentiles } from '../load.ts';
import { ms, number } from '../report.ts';
import { peopleOf } from '../people.ts';
import { mutate, openClients, type Writer } from '../traffic.ts';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';

const READY_MS = 60_000;
const POLL_MS = 200;
/** Of a person who writes: 20 changes a second. */
const PACE_MS = 50;
/** With more, something is wrong. */
const MS_PER_TASK_MAX = 5;

/**
 * How many tasks a second the purge of the Trash deletes, and how long the changes of another person take meanwhile. The tasks are
 * written by SQL; the service starts anew, because a round of the purge begins when it starts.
 */
export async function purgeRows({ testSystem, ours, seconds, sizes }: BenchmarkContext): Promise<BenchmarkResult> {
  const count = sizes.purgedTasks;
  await ours.seedTasks(count);
  const [writer = ours] = await peopleOf(testSystem, 1);
  const client = new Client({ connectionString: testSystem.database.url });
  // Without a handler, the error at the end of the server would end the process and hide the error before it.
  client.on('error', () => {});
  await client.connect();
  try {
    const calm = await writesDuring(ours.baseUrl, writer, () => pause(seconds * 1000));
    await expire(client, ours.workspaceId);
    await restart(testSystem);
    // It has begun before the service was ready.
    const left = await countLeft(client);
    const beganMs = performance.now();
    let purgedMs = 0;
    const beside = await writesDuring(ours.baseUrl, writer, async () => {
      purgedMs = await untilPurged(client, beganMs, count);
    });
    const perSecond = left / (purgedMs / 1000);
    const [p50, p99] = [beside.p50Ms / calm.p50Ms, beside.p99Ms / calm.p99Ms];
    const { p50RatioMax, p99RatioMax } = GOALS.neighbor;
    const row = {
      what: `purge of ${number(count)} tasks in the Trash`,
      ours: `${number(perSecond)}/s; a change beside it p50 ${ms(beside.p50Ms)}, p99 ${ms(beside.p99Ms)}`,
      against: `a change without it p50 ${ms(calm.p50Ms)}, p99 ${ms(calm.p99Ms)}`,
      ratio: `p50 ${p50.toFixed(1)}x, p99 ${p99.toFixed(1)}x`,
      goal: `p50 <= ${p50RatioMax}x, p99 <= ${p99RatioMax}x`,
      isReached: p50 <= p50RatioMax && p99 <= p99RatioMax,
    };
    return { rows: [row], raw: { perSecond, calm, beside } };
  } finally {
    await client.end();
  }
}

/** The latencies of a person who makes one change after the other, at least one. A refused change ends the benchmark. */
async function writesDuring(baseUrl: string, writer: Writer, during: () => Promise<unknown>): Promise<Percentiles> {
  const pool = openClients(baseUrl, 1);
  const latenciesMs: number[] = [];
  let isOver = false;
  const over = during().finally(() => (isOver = true));
  // A refused change ends the loop before it is awaited.
  void over.catch(() => undefined);
  try {
    do {
      const startedMs = performance.now();
      await mutate(pool, writer, 1);
      latenciesMs.push(performance.now() - startedMs);
      await pause(PACE_MS);
    } while (!isOver);
    await over;
  } finally {
    await pool.close();
  }
  return percentiles(latenciesMs);
}

async function restart(testSystem: TestSystem): Promise<void> {
  const sync = testSystem.service('sync');
  await sync.stop();
  await sync.start();
  await sync.untilReady(READY_MS);
}

/** As if the tasks of the workspace had been archived long ago, and the purge had run before. */
async function expire(client: Client, workspaceId: string): Promise<void> {
  await client.query(
    `update sync.tasks t set archived_at = aged.at::timestamptz, record = replace(t.record::text, '"archivedAt":null', '"archivedAt":"' || aged.at || '"')::json
     from (select to_char((now() - interval '40 days') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at) aged
     where t.workspace_id = $1`,
    [workspaceId],
  );
  await client.query(
    `insert into sync.purge_state (retention_days, last_round_at) values (30, now())
     on conflict (is_only_row) do update set retention_days = 30, last_round_at = now(), waits_until = null`,
  );
  await client.query('vacuum analyze sync.tasks');
  await client.query('checkpoint');
}

async function countLeft(client: Client): Promise<number> {
  const { rows } = await client.query<{ left: number }>(
    'select count(*)::int as left from sync.tasks where archived_at is not null',
  );
  return rows[0]?.left ?? 0;
}

/** The time from the beginning until no archived task was left. */
async function untilPurged(client: Client, beganMs: number, count: number): Promise<number> {
  for (const until = beganMs + READY_MS + count * MS_PER_TASK_MAX; performance.now() < until; await pause(POLL_MS)) {
    const { rows } = await client.query<{ isLeft: boolean }>(
      'select exists (select from sync.tasks where archived_at is not null) as "isLeft"',
    );
    if (rows[0]?.isLeft === false) return performance.now() - beganMs;
  }
  throw new Error('the purge does not run, or deletes less than 200 tasks a second');
}
