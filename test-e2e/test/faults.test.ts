import { eventually, startTestSystem, type TestSystem } from '@wts/testkit';
import {
  begin,
  checkSystem,
  listenByPolling,
  listenBySocket,
  writeUntil,
  type Listener,
  type Written,
} from '@wts/verify';
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Each storm lasts as long as its fault needs, and then as long again, so that recovery is under load too. */
const AFTER_MS = 1_500;

describe('whatever dies while people write', function () {
  this.timeout(120_000);
  let testSystem: TestSystem;
  before(async () => {
    testSystem = await startTestSystem({ label: 'faults', syncReplicas: 2, ownPostgres: true });
  });
  after(() => testSystem.close());

  async function storm(
    fault: () => Promise<void>,
    writers = 16,
    sockets = 10,
  ): Promise<{ written: Written; findings: string[] }> {
    await using hears = new AsyncDisposableStack();
    const target = { baseUrl: testSystem.baseUrl, token: testSystem.apiKey };
    const beginning = await begin(testSystem, '1');
    const listeners: Listener[] = Array.from({ length: sockets }, (_, index) =>
      hears.use(listenBySocket(target, `socket ${index}`, '1')),
    );
    listeners.push(hears.use(listenByPolling(target, 'poller', '1')));
    const stop = new AbortController();
    const writing = writeUntil(testSystem, writers, stop.signal);
    await Promise.race([pause(500), writing]);
    await fault();
    await Promise.race([pause(AFTER_MS), writing]);
    stop.abort();
    const written = await writing;
    await testSystem.untilReady();
    return { written, findings: await checkSystem(testSystem, listeners, beginning, written) };
  }

  const kept = ({ written, findings }: { written: Written; findings: string[] }): void => {
    assert.deepEqual(findings, []);
    assert.ok(written.acknowledged.size > 0, 'nothing was written');
  };

  it('loses, doubles and reorders nothing when each sync replica is killed in turn [never.actions-lost, never.acknowledged-lost, never.applied-twice]', async () => {
    kept(
      await storm(async () => {
        for (const replica of [0, 1]) {
          await testSystem.service('sync', replica).kill('SIGKILL');
          await pause(300);
          await testSystem.service('sync', replica).start();
          await testSystem.service('sync', replica).untilReady(30_000);
        }
      }),
    );
  });

  it('loses nothing when the gateway is killed [never.actions-lost, never.acknowledged-lost]', async () => {
    kept(
      await storm(async () => {
        await testSystem.service('gateway').kill('SIGKILL');
        await testSystem.service('gateway').start();
        await testSystem.service('gateway').untilReady(30_000);
      }),
    );
  });

  it('goes on when the workspace service is killed [never.acknowledged-lost]', async () => {
    kept(
      await storm(async () => {
        await testSystem.service('workspace').kill('SIGKILL');
        await pause(500);
        await testSystem.service('workspace').start();
        await testSystem.service('workspace').untilReady(30_000);
      }),
    );
  });

  it('loses nothing when a sync replica sleeps and wakes up as a zombie [never.actions-lost]', async () => {
    kept(
      await storm(async () => {
        testSystem.service('sync', 0).pause();
        await pause(3_000);
        testSystem.service('sync', 0).resume();
      }),
    );
  });

  it('takes changes and shows them while NATS is away, and after it came back [never.actions-lost]', async () => {
    kept(
      await storm(async () => {
        await testSystem.nats.kill();
        await using socket = await testSystem.socket({ after: '1' });
        const known = socket.actions.length;
        await eventually(() => socket.actions.length > known + 5, { deadlineMs: 15_000 });
        await testSystem.nats.start();
      }),
    );
  });

  it('answers 503 while PostgreSQL restarts, and recovers by itself [never.acknowledged-lost, never.applied-twice]', async () => {
    kept(
      await storm(async () => {
        await testSystem.postgres.kill();
        await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).status === 503, {
          deadlineMs: 10_000,
        });
        assert.equal((await fetch(`${testSystem.baseUrl}/health`)).status, 200);
        await testSystem.postgres.start();
        await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).status === 200, {
          deadlineMs: 30_000,
        });
      }),
    );
  });

  it('keeps its promise to 50 sockets under 32 writers', async () => {
    kept(await storm(() => pause(2_000), 32, 50));
  });
});
