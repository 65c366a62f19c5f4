/** The process of `enqueue-process.ts`. */
import { STREAM } from '@wts/contracts';
import { openNats } from '@wts/service-kit/nats';
import { openPostgres } from '@wts/service-kit/postgres';
import { Registry } from 'prom-client';
import { openEnqueue } from '../src/enqueue/enqueue.ts';
import { enqueueMetrics } from '../src/enqueue/metrics.ts';
import { ENQUEUE_STATEMENT } from '../src/store/enqueue.ts';
import type { EnqueueProcessOptions } from './enqueue-process.ts';
import { quiet, testContext } from './quiet.ts';

const { databaseUrl, natsUrl, crash, leaseSilenceMaxMs } = JSON.parse(process.argv[2] ?? '') as EnqueueProcessOptions;
const stack = new AsyncDisposableStack();
const { pool } = openPostgres({ url: databaseUrl, poolMax: 4, applicationName: 'test', log: quiet, stack });
const nats = openNats({ natsUrls: [natsUrl], name: 'test', log: quiet, stack });

let step = 0;
const die = (): void => void process.kill(process.pid, 'SIGKILL');
const isAt = (point: string): boolean => crash?.point === point && step === crash.step;
const query = pool.query.bind(pool) as (statement: unknown, values?: unknown) => Promise<unknown>;
pool.query = (async (statement: unknown, values?: unknown) => {
  if ((statement as { name?: string }).name !== ENQUEUE_STATEMENT) return query(statement, values);
  step += 1;
  if (isAt('received')) die();
  // Somewhere between sending it and its answer: before, in and after its commit.
  if (isAt('sent')) setTimeout(die, Math.random() * 3);
  const answer = await query(statement, values);
  if (isAt('written')) die();
  return answer;
}) as typeof pool.query;

const enqueue = openEnqueue(testContext(), {
  pool,
  databaseUrl,
  nats,
  of: STREAM,
  onEnqueued: () => {
    if (isAt('announced')) die();
  },
  metrics: enqueueMetrics(new Registry()),
  logger: quiet,
  ...(leaseSilenceMaxMs === undefined ? {} : { leaseSilenceMaxMs }),
});
setInterval(() => process.send?.({ isActive: enqueue.isActive }), 20);
process.on('disconnect', () => process.exit());
