import { setTimeout as pause } from 'node:timers/promises';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { cpuMsOf } from '../cpu.ts';
import { GOALS } from '../goals.ts';
import { peakWhile } from '../memory.ts';
import { number, ratioText, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { BODY, type Endpoint, type Endpoints } from '../webhooks/endpoints.ts';
import type { JobQueueCommand } from '../webhooks/job-queue-worker.ts';
import { JOB_QUEUES, type JobQueueName } from '../webhooks/job-queues.ts';
import { Worker } from '@wts/testkit/worker';

const POLL_MS = 20;
const DEADLINE_MS = 30_000;

const PENDING: Readonly<Record<JobQueueName, string>> = {
  'graphile-worker': 'select from graphile_worker._private_jobs limit 1',
  'pg-boss': "select from pgboss.job where state < 'completed' limit 1",
};

interface Rate {
  readonly perSecond: number;
  /** Until the last one arrived; when it is much higher, recording takes longer than attempting. */
  readonly attemptedPerSecond: number;
  /** Of the dispatcher. */
  readonly cpuMicros?: number;
  readonly peakMb?: number;
}

/** Deliveries of a full queue, until all are recorded, and the same POSTs as jobs of job queues on the same PostgreSQL. */
export async function rateRows(context: BenchmarkContext, endpoints: Endpoints): Promise<BenchmarkResult> {
  const { testSystem, authority, rounds, sizes } = context;
  const { rateEndpoints, rateEvents } = sizes.webhooks;
  const load: RateLoad = { endpoints, served: endpoints.all.slice(0, rateEndpoints), events: rateEvents };
  await using stack = new AsyncDisposableStack();
  await endpoints.enableOnly(load.served);
  const theirs = {} as Record<JobQueueName, () => Promise<Rate>>;
  for (const name of JOB_QUEUES) {
    const worker = stack.use(new Worker<JobQueueCommand>(new URL('../webhooks/job-queue-worker.ts', import.meta.url)));
    await worker.do({ do: 'open', name, databaseUrl: testSystem.database.url, ca: authority.certificate });
    theirs[name] = () => measureJobs(load, worker, PENDING[name]);
  }
  const contenders = { ours: () => measureDispatcher(context, load), ...theirs };
  // The first round warms up.
  for (const measure of Object.values(contenders)) await measure();
  const measured = await alternate<'ours' | JobQueueName, Rate>(rounds, contenders);
  const us = median(measured.ours, rate);
  const what = `deliveries recorded, ${rateEndpoints} endpoints`;
  const rows: ReportRow[] = [
    {
      what,
      ours: textOf(us),
      against: '',
      ratio: '',
      goal: `>= ${number(GOALS.webhookRate.perSecondMin)}/s`,
      isReached: us.perSecond >= GOALS.webhookRate.perSecondMin,
    },
    ...JOB_QUEUES.map((name) => {
      const ratio = ratioOf(measured.ours.map(rate), measured[name].map(rate));
      const against = `${name} ${textOf(median(measured[name], rate))}`;
      const isReached = ratio !== null && ratio.middle > GOALS.webhookRate.ratioMin;
      return {
        what,
        ours: `${number(us.perSecond)}/s`,
        against,
        ratio: ratioText(ratio),
        goal: `> ${GOALS.webhookRate.ratioMin}x`,
        isReached,
      };
    }),
  ];
  return { rows, raw: measured };
}

const rate = ({ perSecond }: Rate): number => perSecond;
const textOf = ({ perSecond, attemptedPerSecond, cpuMicros, peakMb }: Rate): string =>
  [
    `${number(perSecond)}/s`,
    `attempted ${number(attemptedPerSecond)}/s`,
    ...(cpuMicros === undefined ? [] : [`${number(cpuMicros)} µs of CPU each`]),
    ...(peakMb === undefined ? [] : [`${number(peakMb)} MB`]),
  ].join(', ');

interface RateLoad {
  readonly endpoints: Endpoints;
  readonly served: readonly Endpoint[];
  /** For each of the served endpoints. */
  readonly events: number;
}

async function measureDispatcher({ testSystem }: BenchmarkContext, load: RateLoad): Promise<Rate> {
  const { endpoints, served, events } = load;
  const { pid, log } = testSystem.service('webhook-dispatcher');
  if (pid === null) throw new Error(`the dispatcher has exited; its log is ${log}`);
  await endpoints.queue(served, events);
  const beforeMs = cpuMsOf([pid]) ?? Number.NaN;
  const { result: rates, peakMb } = await peakWhile([{ name: 'dispatcher', pid, log }], () =>
    untilDone(load, () => endpoints.hasPending()),
  );
  const cpuMicros = (((cpuMsOf([pid]) ?? Number.NaN) - beforeMs) * 1_000) / (served.length * events);
  return { ...rates, cpuMicros, peakMb };
}

async function measureJobs(load: RateLoad, worker: Worker<JobQueueCommand>, pending: string): Promise<Rate> {
  const { endpoints, served, events } = load;
  const urls = served.map(({ url }) => url);
  await worker.do({ do: 'add', urls, count: served.length * events, body: BODY });
  await worker.do({ do: 'start' });
  const rates = await untilDone(load, async () => (await endpoints.database.query(pending)).rowCount === 1);
  await worker.do({ do: 'stop' });
  return rates;
}

/** Deliveries per second from the arrival of the first one until none is pending. */
async function untilDone({ endpoints, served, events }: RateLoad, isPending: () => Promise<boolean>): Promise<Rate> {
  const until = performance.now() + DEADLINE_MS;
  while (await isPending()) {
    if (performance.now() > until) throw new Error('the queue is not empty in time');
    await pause(POLL_MS);
  }
  const endMs = performance.timeOrigin + performance.now();
  const arrivals = await endpoints.take();
  const count = served.length * events;
  if (arrivals.length < count) throw new Error(`${arrivals.length} of ${count} deliveries arrived`);
  const [first, last] = [arrivals[0]?.atMs ?? Number.NaN, arrivals.at(-1)?.atMs ?? Number.NaN];
  const perSecondOf = (ms: number): number => (count / ms) * 1_000;
  return { perSecond: perSecondOf(endMs - first), attemptedPerSecond: perSecondOf(last - first) };
}
