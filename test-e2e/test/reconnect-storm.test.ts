import { startTestSystem, type TestSystem } from '@wts/testkit';
import { ControlClient, faultsOf, StormClients, dropAndReturn, type Fault } from '@wts/verify';
import assert from 'node:assert/strict';

/** `npm run storm` is the same with 5 000. */
const CLIENTS = 500;

describe('hundreds of clients that are dropped in one moment and back in the next', function () {
  this.timeout(120_000);
  let stack: AsyncDisposableStack;
  let testSystem: TestSystem;
  let control: ControlClient;
  let storm: StormClients;
  before(async () => {
    stack = new AsyncDisposableStack();
    testSystem = stack.use(await startTestSystem({ label: 'storm', syncReplicas: 2, gatewayReplicas: 2 }));
    control = stack.use(await ControlClient.settle(testSystem));
    storm = stack.use(await StormClients.gather(testSystem, { clients: CLIENTS, people: 20, forgetfulOneIn: 10 }));
  });
  after(() => stack.disposeAsync());

  const pass = async (fault: Omit<Fault, 'name'>, dropped: RegExp): Promise<void> => {
    const passage = await dropAndReturn(testSystem, storm, control, { name: '', ...fault });
    assert.deepEqual(faultsOf(passage), []);
    assert.ok(passage.meanwhile.tookMs.length > 0, 'nobody worked beside them');
    assert.ok([...passage.back.turnedAway.keys()].some((reason) => dropped.test(reason)));
  };

  it('by the death of a gateway have everything once and in order from another, in bounded memory and in nobody else’s way [never.actions-lost, never.unbounded]', async () => {
    const gateway = testSystem.service('gateway', 0);
    await pass({ door: testSystem.service('gateway', 1).url, happen: () => gateway.kill() }, /^closed 1006$/);
    await gateway.start();
    await testSystem.untilReady();
  });

  it('by the death of a sync replica have everything from the other [never.actions-lost, never.unbounded]', async () => {
    const replica = testSystem.service('sync', 0);
    await pass({ door: testSystem.service('gateway', 1).url, happen: () => replica.kill() }, /^closed 1006$/);
    await replica.start();
    await testSystem.untilReady();
  });

  it('by a gateway that restarts have everything from another [never.actions-lost]', async () => {
    const gateway = testSystem.service('gateway', 1);
    await pass({ door: testSystem.service('gateway', 0).url, happen: () => gateway.restart() }, /^closed 1006$/);
  });
});
