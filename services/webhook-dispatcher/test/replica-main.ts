/** A replica that serves lanes, as a process of its own: it is stopped, continued and killed by tests. */
import { Pool } from 'pg';
import { createLogger } from '@wts/service-kit/observe';
import { Registry } from 'prom-client';
import { disableRuleOf } from '../src/domain/disable-rule.ts';
import { parseRetrySchedule } from '../src/domain/schedule.ts';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import { openLanes } from '../src/lanes/lanes.ts';
import { laneMetrics } from '../src/lanes/metrics.ts';
import type { SendAttempt } from '../src/domain/attempt.ts';
import { FATAL_STATUS, plainSender } from './plain-sender.ts';
import type { ReplicaOptions } from './replica.ts';

const options = JSON.parse(process.argv[2] ?? '') as ReplicaOptions;
const { clockAheadMs = 0 } = options;
const rightNow = Date.now;
Date.now = () => rightNow() + clockAheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[]) => Reflect.construct(target, args.length === 0 ? [target.now()] : args) as Date,
});
const pool = new Pool({ connectionString: options.databaseUrl, max: 5 });
pool.on('error', () => {});
const schedule = parseRetrySchedule(options.schedule);
const stopping = new AbortController();
const lanes = openLanes({
  pool,
  send: endingAt(FATAL_STATUS, plainSender(options.deadlineMs)),
  keys: parseSecretKeys(options.secretKey),
  schedule,
  disableRule: disableRuleOf(1e9, schedule),
  metrics: laneMetrics(new Registry()),
  log: createLogger({ name: 'replica', level: 'warn' }),
  signal: stopping.signal,
  limits: options.limits,
});
process.on('SIGTERM', () => {
  stopping.abort();
  void lanes[Symbol.asyncDispose]().then(async () => {
    await pool.end();
    process.exit(0);
  });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

function endingAt(status: number, send: SendAttempt): SendAttempt {
  return async (request) => {
    const result = await send(request);
    if (result.statusCode !== status) return result;
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined);
  };
}
