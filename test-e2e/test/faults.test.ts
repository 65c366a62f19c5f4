import { eventually, type TestSystem } from '@wts/testkit';
import { readStartState } from '@wts/verify';
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { replicatedSystem } from './replicated-system.ts';
import { underLoad } from './under-load.ts';

describe('the system under load', () => {
  let testSystem: TestSystem;
  before(async () => (testSystem = await replicatedSystem()));
  // Every process recovers, also those that no writer or follower needs.
  afterEach(() => testSystem.untilReady());

  it('loses, doubles and reorders nothing when each process is killed in turn [never.actions-lost, never.acknowledged-lost, never.applied-twice]', () =>
    underLoad(testSystem, async (receivedMore) => {
      const killed = [['sync', 0], ['sync', 1], ['gateway'], ['workspace'], ['auth']] as const;
      for (const [name, replica = 0] of killed) {
        const process = testSystem.service(name, replica);
        await process.kill('SIGKILL');
        // What goes on without the process does; a credential is known without auth for at most five seconds.
        if (name !== 'gateway' && name !== 'auth') await receivedMore();
        await process.start();
        await process.untilReady(30_000);
      }
    }));

  it('loses nothing when a sync replica is paused and resumed [never.actions-lost]', () =>
    underLoad(testSystem, async () => {
      testSystem.service('sync', 0).pause();
      await pause(2_000);
      testSystem.service('sync', 0).resume();
    }));

  it('accepts and delivers changes while NATS is down, and after it restarted [never.actions-lost]', () =>
    underLoad(testSystem, async () => {
      await testSystem.nats.kill();
      const { after } = await readStartState(testSystem);
      await using socket = await testSystem.socket({ after });
      await eventually(() => socket.actions.length > 5);
      await testSystem.nats.start();
    }));

  it('answers 503 while PostgreSQL is down, and recovers without help [never.acknowledged-lost, never.applied-twice]', () =>
    underLoad(testSystem, async () => {
      await testSystem.postgres.kill();
      await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).status === 503);
      assert.equal((await fetch(`${testSystem.baseUrl}/health`)).status, 200);
      await testSystem.postgres.start();
      await eventually(async () => (await fetch(`${testSystem.baseUrl}/ready`)).status === 200);
    }));
});
