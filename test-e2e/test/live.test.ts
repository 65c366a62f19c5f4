import type { MutateReply, SyncTransaction } from '@wts/contracts';
import type { TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { replicatedSystem } from './replicated-system.ts';

type Change = Omit<SyncTransaction, 'clientTxId' | 'clientId'>;

describe('two people on two sync replicas', () => {
  let testSystem: TestSystem;
  before(async () => {
    testSystem = await replicatedSystem();
  });

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

  it('get consecutive numbers for the tasks of a workspace [sync.mutate.task-number]', async () => {
    const { reply } = await mutate(
      testSystem.apiKey,
      Array.from({ length: 5 }, () => insert('Task', { title: 'Numbered' })),
    );
    const numbers = reply.mutations.map(({ record }) => Number(record['number']));
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => (numbers[0] ?? 0) + index),
    );
  });

  it('receive only the changed fields of an UPDATE [sync.action.update-changed-only, sync.action.group]', async () => {
    await using socket = await testSystem.socket();
    const task = insert('Task', { title: 'Before', priority: 1 });
    await mutate(testSystem.apiKey, [
      task,
      { modelName: 'Task', modelId: task.modelId, action: 'UPDATE', payload: { priority: 1, title: 'After' } },
    ]);
    const { data, groupId } = await socket.untilAction(
      ({ modelId, action }) => modelId === task.modelId && action === 'UPDATE',
    );
    assert.deepEqual(Object.keys(data).toSorted(), ['title', 'updatedAt']);
    assert.equal(groupId, testSystem.workspaceId);
  });

  it('cannot access a workspace without membership, as if it did not exist [sync.mutate.outsider, never.shown-outside]', async () => {
    const outsider = await testSystem.person('Out Sider');
    const task = insert('Task', { title: 'Mine' });
    await mutate(testSystem.apiKey, [task]);
    const update = (modelId: string): Change => ({
      modelName: 'Task',
      modelId,
      action: 'UPDATE',
      payload: { title: 'Theirs' },
    });
    const { reply } = await mutate(outsider.token, [
      update(task.modelId),
      update(randomUUID()),
      insert('Task', { title: 'x' }),
    ]);
    const [foreign, unknown, inserted] = reply.results;
    assert.deepEqual({ ...foreign, clientTxId: '' }, { ...unknown, clientTxId: '' });
    assert.equal(inserted?.success, false);
    assert.equal(reply.lastSyncId, '0');
    await using socket = await testSystem.socket({ token: outsider.token });
    assert.deepEqual(socket.frames[0]?.groups, [outsider.userId]);
    assert.deepEqual(
      socket.actions.filter(({ groupId }) => groupId !== outsider.userId),
      [],
    );
  });

  it('change as guests only what they created or are assigned [sync.mutate.roles]', async () => {
    const guest = await testSystem.member('Guest', 'guest');
    const foreign = insert('Task', { title: 'Not theirs' });
    const assigned = insert('Task', { title: 'Theirs', assigneeId: guest.userId });
    await mutate(testSystem.apiKey, [foreign, assigned]);
    const done = (modelId: string): Change => ({
      modelName: 'Task',
      modelId,
      action: 'UPDATE',
      payload: { completedAt: '2026-11-21' },
    });
    const { reply } = await mutate(guest.token, [
      done(foreign.modelId),
      done(assigned.modelId),
      insert('Project', { key: 'G', name: 'No' }),
    ]);
    assert.deepEqual(
      reply.results.map(({ success, code }) => [success, code]),
      [
        [false, 'forbidden'],
        [true, undefined],
        [false, 'forbidden'],
      ],
    );
  });

  it('get a refusal for a change of a deleted record, and the rest of the batch is applied [sync.mutate.deleted]', async () => {
    const task = insert('Task', { title: 'Short-lived' });
    const { reply } = await mutate(testSystem.apiKey, [
      task,
      { modelName: 'Task', modelId: task.modelId, action: 'DELETE', payload: {} },
      { modelName: 'Task', modelId: task.modelId, action: 'UPDATE', payload: { title: 'Too late' } },
      insert('Task', { title: 'Next' }),
    ]);
    assert.deepEqual(
      reply.results.map(({ success }) => success),
      [true, true, false, true],
    );
    assert.equal(reply.results[2]?.code, 'not_found');
  });

  it('receive a workspace that they create live, through the log [workspaces.create.through-log]', async () => {
    const { userId, token } = await testSystem.person('Founder');
    await using socket = await testSystem.socket({ token });
    const founding = { name: 'Founded', urlKey: `founded-${userId.slice(0, 8)}` };
    const answer = await testSystem.request(token, 'POST', '/api/workspaces', { body: founding });
    assert.equal(answer.status, 201, answer.text);
    const { workspace } = answer.json() as { workspace: { id: string; role: string } };
    assert.equal(workspace.role, 'owner');
    const membership = await socket.untilAction(({ modelName }) => modelName === 'WorkspaceMember');
    assert.equal(membership.groupId, userId);
    await mutate(token, [
      {
        modelName: 'Task',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId: workspace.id, title: 'First' },
      },
    ]);
    await socket.untilAction(({ modelName, groupId }) => modelName === 'Task' && groupId === workspace.id);
  });

  it('get a refusal or a 400 for bad changes, never a 500 [never.500-by-input, sync.mutate.body, sync.transaction.fields]', async () => {
    const bad: unknown[] = [
      null,
      [],
      {},
      { batchId: 'x', transactions: [] },
      { batchId: 'x', transactions: [null] },
      {
        batchId: 'x',
        transactions: Array.from({ length: 101 }, () => ({ clientTxId: 'a', clientId: 'b', ...insert('Task', {}) })),
      },
      {
        batchId: 'x',
        transactions: [
          {
            clientTxId: 'a',
            clientId: 'b',
            modelName: '__proto__',
            modelId: randomUUID(),
            action: 'INSERT',
            payload: {},
          },
        ],
      },
      {
        batchId: 'x',
        transactions: [
          { clientTxId: 'a', clientId: 'b', modelName: 'Task', modelId: 'x', action: 'INSERT', payload: {} },
        ],
      },
      {
        batchId: 'x',
        transactions: [
          { clientTxId: 'a', clientId: 'b', modelName: 'Task', modelId: randomUUID(), action: 'MERGE', payload: {} },
        ],
      },
      {
        batchId: 'x',
        transactions: [
          { clientTxId: 'a', clientId: 'b', ...insert('Task', { title: 5, labelIds: 'x', constructor: 1 }) },
        ],
      },
    ];
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
