import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { Registry } from 'prom-client';
import { Readiness } from '../observe/readiness.ts';
import { createLogger } from '../observe/logger.ts';
import { every } from './every.ts';
import type { BackgroundContext } from './work-state.ts';

const HOUR_MS = 3_600_000;

interface TestContext extends BackgroundContext {
  readonly readiness: Readiness;
  readonly lines: () => { level: string; msg: string; work: string }[];
}

function testContext(): TestContext {
  const written: string[] = [];
  const log = createLogger({ name: 'demo', destination: { write: (line: string) => void written.push(line) } });
  return {
    name: 'demo',
    log,
    metrics: new Registry(),
    readiness: new Readiness(log),
    lines: () => written.map((line) => JSON.parse(line) as { level: string; msg: string; work: string }),
  };
}

const work = { name: 'sweeping', failing: 'some dust remains' };

describe('background work', () => {
  it('is repeated, also after a run that failed, whose error is logged once until a run succeeds', async () => {
    const context = testContext();
    let count = 0;
    await using _work = every(context, {
      ...work,
      everyMs: 1,
      run: async () => {
        count += 1;
        if (count >= 2 && count <= 5) throw new Error('no broom');
      },
    });
    await eventually(() => count >= 8);
    assert.deepEqual(
      context.lines().map(({ level, msg, work: name }) => [level, msg, name]),
      [
        ['warn', 'some dust remains', 'sweeping'],
        ['info', 'background work succeeds again', 'sweeping'],
      ],
    );
  });

  it('is run again at once while something is left', async () => {
    let left = 5;
    await using _work = every(testContext(), {
      ...work,
      everyMs: HOUR_MS,
      run: async () => ((left -= 1) > 0 ? 'more' : 'done'),
    });
    await eventually(() => left === 0);
  });

  it('begins early when it is woken, also during a run', async () => {
    let count = 0;
    const inProgress = Promise.withResolvers<void>();
    await using sweeping = every(testContext(), {
      ...work,
      everyMs: HOUR_MS,
      run: () => (++count === 2 ? inProgress.promise : Promise.resolve()),
    });
    await eventually(() => {
      sweeping.wake();
      return count === 2;
    });
    sweeping.wake();
    inProgress.resolve();
    await eventually(() => count === 3);
  });

  it('ends with the batch in progress, whose failure is not reported, and without those that are left', async () => {
    const context = testContext();
    const inProgress = Promise.withResolvers<'more'>();
    const signals: AbortSignal[] = [];
    const sweeping = every(context, {
      ...work,
      everyMs: 1,
      run: ({ signal }) => {
        signals.push(signal);
        return inProgress.promise;
      },
    });
    let isDisposed = false;
    const disposing = sweeping[Symbol.asyncDispose]().then(() => (isDisposed = true));
    await new Promise(setImmediate);
    assert.equal(isDisposed, false);
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true],
    );
    inProgress.resolve('more');
    await disposing;
    const failing = every(context, { ...work, everyMs: 1, run: () => Promise.reject(new Error('interrupted')) });
    await failing[Symbol.asyncDispose]();
    assert.equal(signals.length, 1);
    assert.deepEqual(context.lines(), []);
  });

  it('is shown with its runs, failures and lag in metrics and in the answer to probes', async () => {
    const context = testContext();
    const lasting = Promise.withResolvers<void>();
    await using _done = every(context, { ...work, name: 'done', everyMs: HOUR_MS, run: async () => undefined });
    await using _lasting = every(context, {
      ...work,
      name: 'lasting',
      everyMs: 1,
      run: async (run) => {
        run.failed(new Error('no broom'));
        run.succeeded();
        run.succeeded();
        await lasting.promise;
      },
    });
    const status = () => context.readiness.background() ?? {};
    await eventually(() => status().done?.runs === 1 && status().lasting!.lagMs > 5);
    const { lastRunAt, lagMs, ...shown } = status().lasting!;
    assert.ok(Date.parse(lastRunAt!) <= Date.now() && lagMs > 5);
    assert.deepEqual(shown, { isActive: true, runs: 2, failures: 1 });
    assert.deepEqual([status().done!.isActive, status().done!.lagMs], [false, 0]);
    const metrics = await context.metrics.metrics();
    for (const line of [
      'wts_background_runs_total{work="lasting"} 2',
      'wts_background_failures_total{work="lasting"} 1',
      'wts_background_active{work="lasting"} 1',
      'wts_background_active{work="done"} 0',
      'wts_background_lag_seconds{work="done"} 0',
    ])
      assert.ok(metrics.includes(line), line);
    assert.match(metrics, /wts_background_last_run_timestamp_seconds\{work="done"\} 1[0-9.]+e?/);
    lasting.resolve();
  });
});
