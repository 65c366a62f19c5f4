import { HonestPerson, latencies, type RequestLatency, type RequestSample } from '@wts/verify';
import type { TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { GOALS } from '../goals.ts';
import { ms, number } from '../report.ts';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';

const READY_MS = 60_000;
const POLL_MS = 200;
/** Without a task less for this long, the purge does not run. */
const STALLED_MS = 60_000;

/**
 * How many tasks a second the purge of the Trash deletes, and how long an honest person waits meanwhile. The tasks are written by SQL;
 * the service starts anew, because a round of the purge begins when it starts.
 */
export async function purgeRows({
  testSystem,
  ours,
  authority,
  seconds,
  sizes,
}: BenchmarkContext): Promise<BenchmarkResult> {
  const count = sizes.purgedTasks;
  await ours.seedTasks(count);
  const client = new Client({ connectionString: testSystem.database.url });
  // Without a handler, the error at the end of the server would end the process and hide the error before it.
  client.on('error', () => {});
  await client.connect();
  try {
    await restart(testSystem);
    await using honest = await HonestPerson.start(testSystem, await authority.issue());
    const calm = latencies(await samplesOf(honest, () => pause(seconds * 1000)));
    await expire(client, ours.workspaceId);
    await restart(testSystem);
    const beganMs = performance.now();
    let purgedMs = 0;
    const samples = await samplesOf(honest, async () => {
      purgedMs = await untilPurged(client, beganMs);
      await pause(Math.max(0, beganMs + seconds * 1000 - performance.now()));
    });
    const perSecond = count / (purgedMs / 1000);
    const { write } = latencies(samples);
    return { rows: [rowOf({ count, perSecond, write, calm: calm.write, samples })], raw: { perSecond, calm, write } };
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

/** The time from the beginning until no archived task was left. */
async function untilPurged(client: Client, beganMs: number): Promise<number> {
  let changedMs = performance.now();
  for (let left = Infinity; ;) {
    const { rows } = await client.query<{ left: number }>(
      'select count(*)::int as left from sync.tasks where archived_at is not null',
    );
    const now = rows[0]?.left ?? 0;
    if (now === 0) return performance.now() - beganMs;
    if (now < left) changedMs = performance.now();
    if (performance.now() - changedMs > STALLED_MS) throw new Error(`the purge does not run; ${now} tasks are left`);
    left = now;
    await pause(POLL_MS);
  }
}

function rowOf(found: {
  readonly count: number;
  readonly perSecond: number;
  readonly write: RequestLatency;
  readonly calm: RequestLatency;
  readonly samples: readonly RequestSample[];
}): BenchmarkResult['rows'][number] {
  const { count, perSecond, write, calm, samples } = found;
  const [p50, p99] = [write.p50Ms / calm.p50Ms, write.p99Ms / calm.p99Ms];
  const refused = samples.filter(({ refusal }) => refusal !== null).length;
  const { p50RatioMax, p99RatioMax } = GOALS.neighbor;
  return {
    what: `purge of ${number(count)} tasks in the Trash`,
    ours: `${number(perSecond)}/s; a write beside it p50 ${ms(write.p50Ms)}, p99 ${ms(write.p99Ms)}; ${refused} refused`,
    against: `a write without it p50 ${ms(calm.p50Ms)}, p99 ${ms(calm.p99Ms)}`,
    ratio: `p50 ${p50.toFixed(1)}x, p99 ${p99.toFixed(1)}x`,
    goal: `p50 <= ${p50RatioMax}x, p99 <= ${p99RatioMax}x, 0 refused`,
    isReached: p50 <= p50RatioMax && p99 <= p99RatioMax && refused === 0,
  };
}
