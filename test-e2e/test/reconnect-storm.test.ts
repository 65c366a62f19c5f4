import type { TestSystem } from '@wts/testkit';
import { ControlClient, problemsOf, StormClients, dropAndReconnect, type Disruption } from '@wts/verify';
import assert from 'node:assert/strict';
import { replicatedSystem } from './replicated-system.ts';

/** `npm run storm` does the same with 5 000. */
const CLIENTS = 50;

describe('50 clients that are dropped at the same time and reconnect', () => {
  let stack: AsyncDisposableStack;
  let testSystem: TestSystem;
  let control: ControlClient;
  let storm: StormClients;
  before(async () => {
    stack = new AsyncDisposableStack();
    testSystem = await replicatedSystem();
    control = stack.use(await ControlClient.start(testSystem));
    storm = stack.use(await StormClients.open(testSystem, { clients: CLIENTS, people: 10, reloadOneIn: 10 }));
  });
  after(() => stack.disposeAsync());

  const pass = async (disruption: Omit<Disruption, 'name'>, dropped: RegExp): Promise<void> => {
    const result = await dropAndReconnect(testSystem, storm, control, { name: '', ...disruption });
    assert.deepEqual(problemsOf(result), []);
    assert.ok(result.during.tookMs.length > 0, 'the control client made no change');
    assert.ok([...result.reconnect.rejections.keys()].some((reason) => dropped.test(reason)));
  };

  it('receive everything once and in order after a gateway is killed, in bounded memory and without harm to other clients [never.actions-lost, never.unbounded]', async () => {
    const gateway = testSystem.service('gateway', 0);
    await pass({ baseUrl: testSystem.service('gateway', 1).url, run: () => gateway.kill() }, /^closed 1006$/);
    await gateway.start();
    await testSystem.untilReady();
  });

  it('receive everything once and in order after a sync replica is killed [never.actions-lost, never.unbounded]', async () => {
    const replica = testSystem.service('sync', 0);
    await pass({ baseUrl: testSystem.service('gateway', 1).url, run: () => replica.kill() }, /^closed 1006$/);
    await replica.start();
    await testSystem.untilReady();
  });
});
