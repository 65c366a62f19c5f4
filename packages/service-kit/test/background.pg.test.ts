import assert from 'node:assert/strict';
import { eventually, testDatabase, type TestDatabase } from '@wts/testkit';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { every, type BackgroundContext, type BackgroundWork, type Run } from '../src/background/index.ts';
import { createLogger, Readiness } from '../src/observe/index.ts';

const log = createLogger({ name: 'demo', level: 'silent' });

describe('background work under a lease', () => {
  let database: TestDatabase;
  let stack: AsyncDisposableStack;
  let contexts: { readonly context: BackgroundContext; readonly readiness: Readiness }[];
  before(async () => (database = await testDatabase('background')));
  after(() => database.drop());
  beforeEach(() => {
    stack = new AsyncDisposableStack();
    contexts = [];
  });
  afterEach(() => stack.disposeAsync());

  /** A replica of the service. */
  function replica(run: (run: Run) => Promise<void>): BackgroundWork {
    const readiness = new Readiness(log);
    const context = { name: 'demo', log, metrics: new Registry(), readiness };
    contexts.push({ context, readiness });
    const lease = { url: database.url, key: 4_711, silenceMaxMs: 1_000 };
    return stack.use(every(context, { name: 'sweeping', everyMs: 20, lease, run, failing: 'some dust remains' }));
  }
  const endOf = ({ signal }: Run): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });

  it('is done by one process at a time, and each of them gets its turn', async () => {
    let running = 0;
    const runs = [0, 0, 0];
    for (const index of runs.keys()) {
      replica(async () => {
        running += 1;
        assert.equal(running, 1);
        await new Promise(setImmediate);
        running -= 1;
        runs[index]! += 1;
      });
    }
    await eventually(() => runs.every((count) => count >= 2), { deadlineMs: 20_000 });
    assert.ok(contexts.every(({ readiness }) => readiness.background()?.sweeping?.failures === 0));
  });

  it('is taken over when its process stops, and the waiting process shows no lag before', async () => {
    const first = replica(endOf);
    await eventually(() => first.isActive);
    const second = replica(endOf);
    await eventually(() => contexts[0]!.readiness.background()!.sweeping!.lagMs > 200);
    assert.equal(second.isActive, false);
    assert.ok(contexts[1]!.readiness.background()!.sweeping!.lagMs < 200);
    await first[Symbol.asyncDispose]();
    await eventually(() => second.isActive);
  });

  it('ends, and is not reported, when PostgreSQL ends the session of the lease', async () => {
    const ended = Promise.withResolvers<void>();
    const work = replica(async (run) => {
      await endOf(run);
      ended.resolve();
    });
    await eventually(() => work.isActive);
    const admin = stack.adopt(new Client(database.url), (client) => client.end());
    await admin.connect();
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'wts-demo-sweeping'`,
    );
    await ended.promise;
    await eventually(() => work.isActive);
  });
});
