import { eventually, type TestSystem } from '@wts/testkit';
import {
  checkSystem,
  followByPolling,
  followBySocket,
  readStartState,
  writeUntil,
  type Follower,
  type Written,
} from '@wts/verify';
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { replicatedSystem } from './replicated-system.ts';

/** Writers continue for so long after a fault, so that the recovery is under load too. */
const AFTER_MS = 1_500;

const WRITERS = 8;
const SOCKETS = 6;
/** Of each writer: a rate that leaves the processors time for the recovery, with changes under way at any moment. */
const WRITES_EVERY_MS = 20;

describe('the system under load', () => {
  let testSystem: TestSystem;
  before(async () => {
    testSystem = await replicatedSystem();
  });

  async function disturb(fault: () => Promise<void>): Promise<{ written: Written; findings: string[] }> {
    await using open = new AsyncDisposableStack();
    const account = { baseUrl: testSystem.baseUrl, token: testSystem.apiKey };
    const start = await readStartState(testSystem);
    const followers: Follower[] = Array.from({ length: SOCKETS }, (_, index) =>
      open.use(followBySocket(account, `socket ${index}`, start.after)),
    );
    followers.push(open.use(followByPolling(account, 'poller', start.after)));
    const stop = new AbortController();
    const writing = writeUntil(testSystem, WRITERS, WRITES_EVERY_MS, stop.signal);
    await Promise.race([pause(500), writing]);
    await fault();
    await Promise.race([pause(AFTER_MS), writing]);
    stop.abort();
    const written = await writing;
    await testSystem.untilReady();
    return { written, findings: await checkSystem(testSystem, followers, start, written) };
  }

  const assertNothingLost = ({ written, findings }: { written: Written; findings: string[] }): void => {
    assert.deepEqual(findings, []);
    assert.ok(written.acknowledged.size > 0, 'nothing was written');
  };

  it('loses, doubles and reorders nothing when each sync replica is killed in turn [never.actions-lost, never.acknowledged-lost, never.applied-twice]', async () => {
    assertNothingLost(
      await disturb(async () => {
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
    assertNothingLost(
      await disturb(async () => {
        await testSystem.service('gateway').kill('SIGKILL');
        await testSystem.service('gateway').start();
        await testSystem.service('gateway').untilReady(30_000);
      }),
    );
  });

  it('loses nothing when the services of workspaces and identities are killed [never.acknowledged-lost]', async () => {
    const killed = [testSystem.service('workspace'), testSystem.service('auth')];
    assertNothingLost(
      await disturb(async () => {
        for (const service of killed) await service.kill('SIGKILL');
        await pause(500);
        for (const service of killed) await service.start();
        for (const service of killed) await service.untilReady(30_000);
      }),
    );
  });

  it('loses nothing when a sync replica is paused and resumed [never.actions-lost]', async () => {
    assertNothingLost(
      await disturb(async () => {
        testSystem.service('sync', 0).pause();
        await pause(3_000);
        testSystem.service('sync', 0).resume();
      }),
    );
  });

  it('accepts and delivers changes while NATS is down, and after it restarted [never.actions-lost]', async () => {
    assertNothingLost(
      await disturb(async () => {
        await testSystem.nats.kill();
        const { after } = await readStartState(testSystem);
        await using socket = await testSystem.socket({ after });
        await eventually(() => socket.actions.length > 5);
        await testSystem.nats.start();
      }),
    );
  });

  it('answers 503 while PostgreSQL is down, and recovers without help [never.acknowledged-lost, never.applied-twice]', async () => {
    assertNothingLost(
      await disturb(async () => {
        await testSystem.postgres.kill();
        await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).status === 503);
        assert.equal((await fetch(`${testSystem.baseUrl}/health`)).status, 200);
        await testSystem.postgres.start();
        await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).status === 200);
      }),
    );
  });
});
