import { indexedKeysOf, MODELS } from '@wts/models';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { caller, idsOf, TestSyncService } from './test-sync-service.ts';

describe('/sync/batch', () => {
  let sync: TestSyncService;
  let ada: string;
  let bob: string;
  let home: string;
  let projectId: string;
  let taskIds: string[];
  before(async () => {
    sync = await TestSyncService.open('batch');
    ada = await sync.person('Ada');
    bob = await sync.person('Bob');
    home = await sync.workspace(ada);
    await sync.join(bob, home);
    projectId = await sync.insert('Project', { workspaceId: home, key: 'P', name: 'P', isPrivate: true }, ada);
    taskIds = [
      await sync.insert('Task', { workspaceId: home, title: 'Open', assigneeId: bob }, ada),
      await sync.insert('Task', { workspaceId: home, title: 'Open too' }, ada),
      await sync.insert('Task', { workspaceId: home, title: 'Secret', projectId }, ada),
    ];
    for (const taskId of taskIds) {
      await sync.insert('Comment', { workspaceId: home, taskId, body: 'Yes' }, ada);
      await sync.insert('Comment', { workspaceId: home, taskId, body: 'No' }, ada);
    }
  });
  after(() => sync[Symbol.asyncDispose]());

  it('returns the full records of a key, as they are now [sync.batch.ndjson]', async () => {
    const [taskId = ''] = taskIds;
    await sync.commit([{ modelName: 'Task', modelId: taskId, action: 'UPDATE', payload: { priority: 3 } }], ada);
    const rows = await sync.batch(ada, [{ modelName: 'Task', indexedKey: 'id', keyValue: taskId.toUpperCase() }]);
    const { rows: all } = await sync.bootstrap(ada, { onlyModels: 'Task' });
    assert.deepEqual(
      rows,
      all.filter(({ id }) => id === taskId),
    );
    assert.equal(rows[0]?.['priority'], 3);
    const comments = await sync.batch(ada, [{ modelName: 'Comment', indexedKey: 'taskId', keyValue: taskId }]);
    assert.deepEqual(new Set(comments.map(({ body }) => body)), new Set(['No', 'Yes']));
  });

  it('returns archived records, and no deleted ones', async () => {
    const archived = await sync.insert('Task', { workspaceId: home, title: 'Old' }, ada);
    const deleted = await sync.insert('Task', { workspaceId: home, title: 'Deleted' }, ada);
    await sync.commit([{ modelName: 'Task', modelId: archived, action: 'ARCHIVE', payload: {} }], ada);
    await sync.commit([{ modelName: 'Task', modelId: deleted, action: 'DELETE', payload: {} }], ada);
    const byId = (keyValue: string): object => ({ modelName: 'Task', indexedKey: 'id', keyValue });
    assert.deepEqual(idsOf(await sync.batch(ada, [byId(archived), byId(deleted)])), [archived]);
  });

  it('answers many requests from one snapshot, and a record once however many of them it matches [sync.batch.requests]', async () => {
    const requests = [
      ...taskIds.map((taskId) => ({ modelName: 'Comment', indexedKey: 'taskId', keyValue: taskId })),
      { modelName: 'Comment', groupId: home },
      { modelName: 'Comment', groupId: projectId },
      { modelName: 'Task', indexedKey: 'assigneeId', keyValue: bob },
      ...taskIds.map((id) => ({ modelName: 'Task', indexedKey: 'id', keyValue: id })),
    ];
    const rows = await sync.batch(ada, requests);
    assert.equal(idsOf(rows, 'Comment').length, 6);
    assert.equal(new Set(idsOf(rows)).size, rows.length);
    assert.deepEqual(new Set(idsOf(rows, 'Task')), new Set(taskIds));
  });

  it('returns the same records by group and by key as bootstrap, for every model and key', async () => {
    for (const userId of [ada, bob]) {
      const { metadata, rows } = await sync.bootstrap(userId);
      for (const { name } of MODELS) {
        const requests = metadata.subscribedSyncGroups.map((groupId) => ({ modelName: name, groupId }));
        assert.deepEqual(idsOf(await sync.batch(userId, requests)).sort(), idsOf(rows, name).sort(), name);
      }
      for (const model of MODELS) {
        for (const indexedKey of indexedKeysOf(model)) {
          const own = rows.filter(({ __class }) => __class === model.name);
          const sample = own.find((row) => row[indexedKey])?.[indexedKey];
          const keyValue = typeof sample === 'string' ? sample : randomUUID();
          const found = await sync.batch(userId, [{ modelName: model.name, indexedKey, keyValue }]);
          const expected = own.filter((row) => row[indexedKey] === keyValue);
          assert.deepEqual(idsOf(found).sort(), idsOf(expected).sort(), `${model.name} by ${indexedKey}`);
        }
      }
    }
  });

  it('returns no record that the caller may not see: by id, by parent, by group [sync.batch.own-groups]', async () => {
    const secret = taskIds[2] ?? '';
    const other = await sync.workspace(await sync.person('Eve'));
    const requests = [
      { modelName: 'Task', indexedKey: 'id', keyValue: secret },
      { modelName: 'Task', indexedKey: 'projectId', keyValue: projectId },
      { modelName: 'Comment', indexedKey: 'taskId', keyValue: secret },
      { modelName: 'Project', indexedKey: 'id', keyValue: projectId },
      { modelName: 'Task', groupId: projectId },
      { modelName: 'Workspace', groupId: other },
      { modelName: 'WorkspaceMember', groupId: other },
      { modelName: 'User', groupId: other },
      { modelName: 'Task', groupId: 'nonsense' },
      { modelName: 'Task', indexedKey: 'id', keyValue: "' or true --" },
    ];
    assert.deepEqual(await sync.batch(bob, requests), []);
  });

  it('returns records of one workspace only for a credential that is limited to it', async () => {
    const second = await sync.workspace(ada);
    const body = { requests: [home, second, ada].map((groupId) => ({ modelName: 'WorkspaceMember', groupId })) };
    const answer = await sync.call('/sync/batch', { principal: caller(ada, second), body });
    const rows = (await answer.text()).trim().split('\n');
    assert.deepEqual(
      rows.map((row) => (JSON.parse(row) as { workspaceId: string }).workspaceId),
      [second],
    );
  });

  it('returns an empty body when nothing is found, also compressed [sync.batch.bounds]', async () => {
    const requests = [{ modelName: 'Task', indexedKey: 'id', keyValue: randomUUID() }];
    assert.deepEqual(await sync.batch(ada, requests), []);
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await sync.call('/sync/batch', { principal: caller(ada), body: { requests }, headers });
    assert.deepEqual([answer.status, await answer.text()], [200, '']);
  });

  it('uses firstSyncId as the minimal position and never leaves out records before it [sync.batch.first-sync-id]', async () => {
    const requests = [{ modelName: 'Task', groupId: home }];
    const { metadata } = await sync.bootstrap(ada);
    const expected = idsOf(await sync.batch(ada, requests));
    for (const firstSyncId of ['0', '1', metadata.lastSyncId])
      assert.deepEqual(idsOf(await sync.batch(ada, requests, { firstSyncId })), expected);
    const ahead = { requests, firstSyncId: String(BigInt(metadata.lastSyncId) + 1000n) };
    const answer = await sync.call('/sync/batch', { principal: caller(ada), body: ahead });
    assert.equal(answer.status, 503);
    assert.ok(answer.headers.has('retry-after'));
  });

  it('refuses an invalid request and names the field [sync.batch.bounds]', async () => {
    const good = { modelName: 'Task', indexedKey: 'id', keyValue: 'x' };
    const refused: [unknown, RegExp][] = [
      [{}, /requests/],
      [[], /./],
      [{ requests: [] }, /requests/],
      [{ requests: Array.from({ length: 101 }, () => good) }, /requests/],
      [{ requests: [{ ...good, modelName: 'Issue' }] }, /requests\/0\/modelName/],
      [{ requests: [good, { ...good, indexedKey: 'title' }] }, /requests\/1\/indexedKey.*id, workspaceId/],
      [{ requests: [{ ...good, indexedKey: 'creatorId' }] }, /indexedKey/],
      [{ requests: [{ ...good, indexedKey: '__proto__' }] }, /indexedKey/],
      [{ requests: [{ ...good, keyValue: 7 }] }, /keyValue|requests\/0/],
      [{ requests: [{ modelName: 'Task' }] }, /requests\/0/],
      [{ requests: [{ ...good, groupId: home }] }, /requests\/0/],
      [{ requests: [good], firstSyncId: 'soon' }, /firstSyncId/],
      [{ requests: [good], firstSyncId: 5 }, /firstSyncId/],
      [{ requests: [good], firstSyncId: '-1' }, /firstSyncId/],
      [{ requests: [good], firstSyncId: '9999999999999999999' }, /firstSyncId/],
    ];
    for (const [body, where] of refused) {
      const answer = await sync.call('/sync/batch', { principal: caller(ada), body });
      const { message } = (await answer.json()) as { message: string };
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.match(message, where, JSON.stringify(body));
    }
    await sync.batch(
      ada,
      Array.from({ length: 100 }, () => good),
    );
  });

  it('streams a large group', async () => {
    const office = await sync.workspace(ada);
    await sync.fillTasks(office, 3_000);
    const body = { requests: [{ modelName: 'Task', groupId: office }] };
    const answer = await sync.call('/sync/batch', { principal: caller(ada), body });
    assert.equal((await answer.text()).split('\n').length - 1, 3_000);
    const headers = { 'accept-encoding': 'gzip' };
    const zipped = await sync.call('/sync/batch', { principal: caller(ada), body, headers });
    assert.equal(zipped.headers.get('content-encoding'), 'gzip');
    assert.equal((await zipped.text()).split('\n').length - 1, 3_000);
  });
});
