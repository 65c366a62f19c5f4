import type { MutateReply, SyncTransaction } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { replicatedSystem } from './replicated-system.ts';

type Change = Omit<SyncTransaction, 'clientTxId' | 'clientId'>;

describe('two people on two sync replicas', () => {
  let testSystem: TestSystem;
  before(async () => (testSystem = await replicatedSystem()));

  async function mutate(token: string, changes: readonly Change[]): Promise<{ status: number; reply: MutateReply }> {
    const transactions = changes.map((change) => ({ clientTxId: randomUUID(), clientId: 'e2e', ...change }));
    const answer = await testSystem.request(token, 'POST', '/sync/mutate', {
      body: { batchId: randomUUID(), transactions },
    });
    return { status: answer.status, reply: answer.json() as MutateReply };
  }

  const insert = (modelName: string, payload: object, modelId = randomUUID()): Change => ({
    modelName,
    modelId,
    action: 'INSERT',
    payload: { workspaceId: testSystem.workspaceId, ...payload },
  });

  it('receive each other’s project, task and comment live and in order, and also their own [sync.socket.two-replicas, sync.socket.echo]', async () => {
    const [ann, ben] = await Promise.all([testSystem.member('Ann'), testSystem.member('Ben')]);
    await using open = new AsyncDisposableStack();
    // Enough sockets for both replicas to have one of each person.
    const sockets = await Promise.all(
      [ann, ben, ann, ben].map(async ({ token }) => open.use(await testSystem.socket({ token }))),
    );
    const project = insert('Project', { key: 'LIVE', name: 'Live' });
    const task = insert('Task', { title: 'Seen by both', projectId: project.modelId });
    const comment = insert('Comment', { taskId: task.modelId, body: 'There it is' });
    const { reply } = await mutate(ann.token, [project, task]);
    assert.equal(reply.success, true);
    await mutate(ben.token, [comment]);
    for (const socket of sockets) {
      const last = await socket.untilAction(({ modelId }) => modelId === comment.modelId);
      assert.equal((last.data as { body: string }).body, 'There it is');
      const received = socket.actions.filter(({ modelId }) =>
        [project, task, comment].some((one) => one.modelId === modelId),
      );
      assert.deepEqual(
        received.map(({ modelName }) => modelName),
        ['Project', 'Task', 'Comment'],
      );
      assert.deepEqual(
        received.map(({ syncId }) => BigInt(syncId)),
        received.map(({ syncId }) => BigInt(syncId)).toSorted((a, b) => (a < b ? -1 : 1)),
      );
    }
  });

  it('get a result for each transaction, in order, with the fields that the server assigned [sync.mutate.results, sync.mutate.order, sync.mutate.server-assigned, sync.mutate.answer]', async () => {
    const task = insert('Task', { title: 'First' });
    const { status, reply } = await mutate(testSystem.apiKey, [
      task,
      insert('Task', { title: '' }),
      { modelName: 'Task', modelId: task.modelId, action: 'UPDATE', payload: { title: 'Second' } },
    ]);
    assert.equal(status, 200);
    assert.equal(reply.success, false);
    assert.deepEqual(
      reply.results.map(({ success }) => success),
      [true, false, true],
    );
    assert.match(reply.results[1]?.error ?? '', /^title /);
    assert.deepEqual(
      reply.mutations.map(({ record }) => record['title']),
      ['First', 'Second'],
    );
    assert.ok(Number(reply.mutations[0]?.record['number']) > 0);
    assert.equal(reply.mutations[0]?.record['creatorId'], testSystem.userId);
    assert.equal(reply.lastSyncId, reply.results[2]?.syncId);
  });

  it('get a refusal or a 400 for bad changes, never a 500 [never.500-by-input, sync.mutate.body, sync.transaction.fields]', async () => {
    const one = (changed: object): object => ({ clientTxId: 'a', clientId: 'b', ...insert('Task', {}), ...changed });
    const lists: unknown[] = [
      undefined,
      [],
      [null],
      Array.from({ length: 101 }, () => one({})),
      ...[
        { modelName: '__proto__' },
        { modelId: 'x' },
        { action: 'MERGE' },
        { payload: { title: 5, labelIds: 'x', constructor: 1 } },
      ].map((changed) => [one(changed)]),
    ];
    const bad = [null, [], {}, ...lists.map((transactions) => ({ batchId: 'x', transactions }))];
    for (const body of bad) {
      const { status, text } = await testSystem.request(testSystem.apiKey, 'POST', '/sync/mutate', {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      assert.ok(status === 200 || status === 400, `${status}: ${text}`);
      const reply = JSON.parse(text) as { success?: boolean; ok: boolean };
      assert.notEqual(reply.success, true, text);
    }
  });
});
