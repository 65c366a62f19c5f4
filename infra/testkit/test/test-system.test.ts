import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestSystem } from '../src/index.ts';
import { eventually, signToken, startTestSystem } from '../src/index.ts';

describe('a test system', () => {
  let testSystem: TestSystem;
  before(async () => {
    testSystem = await startTestSystem({ label: 'kit', syncReplicas: 2, wires: true, ownPostgres: true });
  });
  after(() => testSystem.close());

  const statusOf = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).status;
  const workspacesOf = async (token: string) => {
    const answer = await fetch(`${testSystem.baseUrl}/api/workspaces`, {
      headers: { authorization: `Bearer ${token}` },
    });
    equal(answer.status, 200);
    return ((await answer.json()) as { workspaces: { id: string; role: string }[] }).workspaces;
  };
  const createTask = async (token: string, title: string) => {
    const payload = { workspaceId: testSystem.workspaceId, title };
    const transaction = { clientId: 'kit', modelName: 'Task', action: 'INSERT', payload };
    const answer = await fetch(`${testSystem.baseUrl}/sync/mutate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        batchId: randomUUID(),
        transactions: [{ ...transaction, clientTxId: randomUUID(), modelId: randomUUID() }],
      }),
    });
    return (await answer.json()) as { success: boolean };
  };

  it('has an owner with keys, members, and people without access', async () => {
    deepEqual(
      (await workspacesOf(testSystem.apiKey)).map(({ id, role }) => [id, role]),
      [[testSystem.workspaceId, 'owner']],
    );
    const [ann, eve] = await Promise.all([testSystem.member('Ann', 'guest'), testSystem.person('Eve')]);
    deepEqual(
      (await workspacesOf(ann.token)).map(({ id, role }) => [id, role]),
      [[testSystem.workspaceId, 'guest']],
    );
    deepEqual(await workspacesOf(eve.token), []);
    notEqual(ann.userId, eve.userId);
    const forged = signToken({ ...testSystem.jwt, secret: 'another secret, long enough to be one' }, 'ann');
    const answer = await fetch(`${testSystem.baseUrl}/api/workspaces`, {
      headers: { authorization: `Bearer ${forged}` },
    });
    equal(answer.status, 401);
  });

  it('has sockets that receive the changes of others', async () => {
    const ann = await testSystem.member('Ann');
    await using socket = await testSystem.socket({ token: ann.token });
    const title = `received ${randomUUID()}`;
    equal((await createTask(testSystem.apiKey, title)).success, true);
    const action = await socket.untilAction(({ data }) => data['title'] === title);
    equal(action.action, 'INSERT');
    ok(BigInt(socket.cursor()) >= BigInt(action.syncId));
  });

  it('rejects a socket without a valid credential with the status of the response', async () => {
    await rejects(testSystem.socket({ token: 'wts_nonsense' }), { statusCode: 401 });
  });

  it('starts a killed service only when the test does, at the same address', async () => {
    const [first, second] = [testSystem.service('sync', 0), testSystem.service('sync', 1)];
    await first.kill();
    equal(first.pid, null);
    await rejects(statusOf(`${first.url}/health`));
    equal(await statusOf(`${second.url}/health`), 200);
    await first.start();
    await first.untilReady(30_000);
    equal(await statusOf(`${first.url}/health`), 200);
  });

  it('can disconnect one process from its database and reconnect it', async () => {
    const { url } = testSystem.service('workspace');
    testSystem.wire('workspace', 'postgres').cut();
    await eventually(async () => (await statusOf(`${url}/ready`)) === 503);
    equal(await statusOf(`${testSystem.service('sync').url}/ready`), 200);
    testSystem.wire('workspace', 'postgres').mend();
    await eventually(async () => (await statusOf(`${url}/ready`)) === 200);
  });

  it('has every acknowledged change after its database was killed and restarted', async () => {
    const title = `acknowledged ${randomUUID()}`;
    equal((await createTask(testSystem.apiKey, title)).success, true);
    await testSystem.postgres.kill();
    await eventually(async () => (await statusOf(`${testSystem.service('sync').url}/ready`)) === 503);
    await testSystem.postgres.start();
    await testSystem.untilReady();
    await using socket = await testSystem.socket();
    await socket.untilAction(({ data }) => data['title'] === title);
  });

  it('names the missing option when a test uses a part without it', async () => {
    await rejects(async () => testSystem.wire('nothing', 'nats'), /no wire between nothing 0 and nats/);
    match(testSystem.nats.version, /^\d/);
  });
});
