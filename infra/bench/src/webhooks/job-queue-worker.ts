import { Logger, WorkerPreset, makeWorkerUtils, run } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { Agent } from 'undici';
import { serveCommands } from '@wts/testkit/worker';
import type { JobQueueName } from './job-queues.ts';

export type JobQueueCommand =
  /** Creates the schema. */
  | { readonly do: 'open'; readonly name: JobQueueName; readonly databaseUrl: string; readonly ca: string }
  /** Queues one POST per job, for these URLs in turn. */
  | { readonly do: 'add'; readonly urls: readonly string[]; readonly count: number; readonly body: string }
  | { readonly do: 'start' | 'stop' };

interface Post {
  readonly url: string;
  readonly body: string;
}

interface JobQueue {
  readonly add: (jobs: readonly Post[]) => Promise<unknown>;
  readonly start: () => Promise<() => Promise<unknown>>;
}

/** As many connections to PostgreSQL as the dispatcher has. */
const POOL_MAX = 10;
/** POSTs at once. */
const PARALLEL = 200;
const DEADLINE_MS = 10_000;
const JOB = 'post';
/** Its default writes a line per job. */
const QUIET = new Logger(() => () => undefined);

let queue: JobQueue | null = null;
let stop: (() => Promise<unknown>) | null = null;

serveCommands(async (command: JobQueueCommand) => {
  if (command.do === 'open') {
    const { name, databaseUrl, ca } = command;
    const agent = new Agent({ connect: { ca }, pipelining: 1, headersTimeout: DEADLINE_MS });
    const post = async ({ url, body }: Post): Promise<void> => {
      const { origin, pathname } = new URL(url);
      const headers = { 'content-type': 'application/json' };
      const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`status ${answer.statusCode}`);
    };
    queue = name === 'pg-boss' ? await openBoss(databaseUrl, post) : await openGraphile(databaseUrl, post);
  } else if (command.do === 'add') {
    const { urls, count, body } = command;
    await queue?.add(Array.from({ length: count }, (_, nth) => ({ url: urls[nth % urls.length] ?? '', body })));
  } else if (command.do === 'start') {
    stop = (await queue?.start()) ?? null;
  } else {
    await stop?.();
  }
});

type Send = (post: Post) => Promise<void>;

/** With its settings for throughput: jobs are fetched and completed in batches. */
async function openGraphile(connectionString: string, post: Send): Promise<JobQueue> {
  const utils = await makeWorkerUtils({ connectionString, logger: QUIET });
  await utils.migrate();
  const worker = {
    connectionString,
    concurrentJobs: PARALLEL,
    maxPoolSize: POOL_MAX,
    logger: QUIET,
    localQueue: { size: 2 * PARALLEL },
    completeJobBatchDelay: 0,
  };
  const preset = { extends: [WorkerPreset], worker };
  return {
    add: (jobs) => utils.addJobs(jobs.map((payload) => ({ identifier: JOB, payload }))),
    start: async () => {
      const runner = await run({
        preset,
        noHandleSignals: true,
        taskList: { [JOB]: (payload) => post(payload as Post) },
      });
      return () => runner.stop();
    },
  };
}

/** Fetches and completes batches, without a pause while batches are full. */
async function openBoss(connectionString: string, post: Send): Promise<JobQueue> {
  const boss = new PgBoss({ connectionString, max: POOL_MAX, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(JOB);
  const options = { batchSize: 100, localConcurrency: PARALLEL / 100, burstWhenBatchFull: true };
  return {
    add: (jobs) =>
      boss.insert(
        JOB,
        jobs.map((data) => ({ data })),
      ),
    start: async () => {
      await boss.work<Post>(JOB, { ...options, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        await Promise.all(jobs.map(({ data }) => post(data)));
      });
      return () => boss.offWork(JOB);
    },
  };
}
