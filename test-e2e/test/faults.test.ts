import { eventually, startWorld, type World } from '@wts/testkit';
import {
  begin,
  checkWorld,
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
  let world: World;
  before(async () => {
    world = await startWorld({ label: 'faults', syncReplicas: 2, ownPostgres: true });
  });
  after(() => world.close());

  async function storm(
    fault: () => Promise<void>,
    writers = 16,
    sockets = 10,
  ): Promise<{ written: Written; findings: string[] }> {
    await using hears = new AsyncDisposableStack();
    const target = { baseUrl: world.baseUrl, token: world.apiKey };
    const beginning = await begin(world, '1');
    const listeners: Listener[] = Array.from({ length: sockets }, (_, index) =>
      hears.use(listenBySocket(target, `socket ${index}`, '1')),
    );
    listeners.push(hears.use(listenByPolling(target, 'poller', '1')));
    const stop = new AbortController();
    const writing = writeUntil(world, writers, stop.signal);
    await Promise.race([pause(500), writing]);
    await fault();
    await Promise.race([pause(AFTER_MS), writing]);
    stop.abort();
    const written = await writing;
    await world.untilReady();
    return { written, findings: await checkWorld(world, listeners, beginning, written) };
  }

  const kept = ({ written, findings }: { written: Written; findings: string[] }): void => {
    assert.deepEqual(findings, []);
    assert.ok(written.acknowledged.size > 0, 'nothing was written');
  };

  it('loses, doubles and reorders nothing when each sync replica is killed in turn [never.actions-lost, never.acknowledged-lost, never.applied-twice]', async () => {
    kept(
      await storm(async () => {
        for (const replica of [0, 1]) {
          await world.service('sync', replica).kill('SIGKILL');
          await pause(300);
          await world.service('sync', replica).start();
          await world.service('sync', replica).untilReady(30_000);
        }
      }),
    );
  });

  it('loses nothing when the gateway is killed [never.actions-lost, never.acknowledged-lost]', async () => {
    kept(
      await storm(async () => {
        await world.service('gateway').kill('SIGKILL');
        await world.service('gateway').start();
        await world.service('gateway').untilReady(30_000);
      }),
    );
  });

  it('goes on when the workspace service is killed [never.acknowledged-lost]', async () => {
    kept(
      await storm(async () => {
        await world.service('workspace').kill('SIGKILL');
        await pause(500);
        await world.service('workspace').start();
        await world.service('workspace').untilReady(30_000);
      }),
    );
  });

  it('loses nothing when a sync replica sleeps and wakes up as a zombie [never.actions-lost]', async () => {
    kept(
      await storm(async () => {
        world.service('sync', 0).pause();
        await pause(3_000);
        world.service('sync', 0).resume();
      }),
    );
  });

  it('takes changes and shows them while NATS is away, and after it came back [never.actions-lost]', async () => {
    kept(
      await storm(async () => {
        await world.nats.kill();
        await using socket = await world.socket({ after: '1' });
        const known = socket.actions.length;
        await eventually(() => socket.actions.length > known + 5, { deadlineMs: 15_000 });
        await world.nats.start();
      }),
    );
  });

  it('answers 503 while PostgreSQL restarts, and recovers by itself [never.acknowledged-lost, never.applied-twice]', async () => {
    kept(
      await storm(async () => {
        await world.postgres.kill();
        await eventually(async () => (await fetch(`${world.baseUrl}/ready`)).status === 503, { deadlineMs: 10_000 });
        assert.equal((await fetch(`${world.baseUrl}/health`)).status, 200);
        await world.postgres.start();
        await eventually(async () => (await fetch(`${world.baseUrl}/ready`)).status === 200, { deadlineMs: 30_000 });
      }),
    );
  });

  it('keeps its promise to 50 sockets under 32 writers', async () => {
    kept(await storm(() => pause(2_000), 32, 50));
  });
});
