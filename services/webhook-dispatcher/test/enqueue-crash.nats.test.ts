import { STREAM } from '@wts/contracts';
import { eventually, testNats } from '@wts/testkit';
import { connect, type NatsConnection } from 'nats';
import { CRASH_POINTS, EnqueueProcess, type EnqueueProcessOptions } from './enqueue-process.ts';
import { LogAndEndpoints } from './log-and-endpoints.ts';

describe('a process that enqueues', () => {
  let stack: AsyncDisposableStack;
  let store: LogAndEndpoints;
  let nc: NatsConnection;
  let options: EnqueueProcessOptions;
  const places: number[] = [];

  before(async () => {
    stack = new AsyncDisposableStack();
    const broker = stack.use(await testNats('crash'));
    store = stack.use(await LogAndEndpoints.open('crash'));
    nc = stack.adopt(await connect({ servers: new URL(broker.url).host }), (one) => one.close());
    options = { databaseUrl: store.database.urlOf('wts_webhooks'), natsUrl: broker.url };
  });
  after(() => stack.disposeAsync());
  beforeEach(() => {
    places.length = 0;
  });

  async function commit(): Promise<void> {
    const some = await store.append([{}, {}]);
    places.push(...some);
    nc.publish(STREAM.committed, store.workspaceId);
  }
  const delivered = (endpoint: string): Promise<boolean> =>
    eventually(
      async () => {
        await store.assertDelivered(endpoint, places);
        return true;
      },
      { everyMs: 50 },
    );

  it(`loses and repeats nothing when it is killed with a step ${CRASH_POINTS.join(', ')} [never.actions-lost]`, async () => {
    const endpoint = await store.endpoint();
    for (const [at, point] of CRASH_POINTS.entries()) {
      await using worker = await EnqueueProcess.start({ ...options, crash: { point, step: 1 + at } });
      await worker.untilHolding();
      await eventually(
        async () => {
          await commit();
          return !worker.isAlive;
        },
        { everyMs: 5 },
      );
      await commit();
    }
    await using _last = await EnqueueProcess.start(options);
    await delivered(endpoint);
  });

  it('gives way when it is paused, and does no harm when it goes on beside its successor', async () => {
    const endpoint = await store.endpoint();
    const leaseSilenceMaxMs = 600;
    await using one = await EnqueueProcess.start({ ...options, leaseSilenceMaxMs });
    await one.untilHolding();
    await using two = await EnqueueProcess.start({ ...options, leaseSilenceMaxMs });
    let [holder, other]: [EnqueueProcess, EnqueueProcess] = [one, two];
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 20; count += 1) await commit();
      holder.signal('SIGSTOP');
      await eventually(async () => {
        await commit();
        return other.isActive;
      });
      holder.signal('SIGCONT');
      for (let count = 0; count < 20; count += 1) await commit();
      await delivered(endpoint);
      // Either may give way: the step of the one makes the other find the cursor moved.
      await eventually(() => one.isActive !== two.isActive);
      [holder, other] = one.isActive ? [one, two] : [two, one];
    }
  });
});
