import { memberApi, syncApi, workspaceApi } from '@wts/contracts';
import { compile } from '@wts/service-kit/routes';
import { callOperation } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, type TestPerson, type TestService } from './test-service.ts';

describe('a workspace that its owner deleted', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const change = async (who: TestPerson, modelId: string, action: 'ARCHIVE' | 'UNARCHIVE', payload = {}) => {
    const sync = { url: testService.backends.syncUrl, name: 'sync', compile } as const;
    const transactions = [
      { clientId: 'test', clientTxId: randomUUID(), modelName: 'Workspace', modelId, action, payload },
    ];
    const { body, text } = await callOperation(sync, who.principal, syncApi.mutate, {
      body: { batchId: randomUUID(), transactions },
    });
    assert.equal(body.success, true, text);
  };

  it('is found by its urlKey alone, and admits nobody until it is restored [trash.workspace.read-only]', async () => {
    const { id, urlKey, owner, member } = await testService.workspace('member');
    const { code } = await testService.invite(owner, id, {});
    const newcomer = await testService.person();
    const listed = async (who: TestPerson): Promise<string[]> =>
      (await testService.call(who, workspaceApi.listWorkspaces, {})).body.workspaces.map((one) => one.id);
    assert.deepEqual(await listed(member), [id]);

    await change(owner, id, 'ARCHIVE', { urlKey });
    for (const who of [owner, member]) {
      assert.deepEqual(await listed(who), []);
      const found = await testService.call(who, workspaceApi.getWorkspaceBySlug, { params: { slug: urlKey } });
      assert.equal(typeof found.body.workspace.archivedAt, 'string');
    }
    assert.equal((await testService.join(newcomer, code)).code, 'workspace_archived');
    const invited = await testService.call(owner, memberApi.createInvitation, {
      params: { workspaceId: id },
      body: {},
    });
    assert.equal(invited.code, 'workspace_archived');
    const taken = await testService.call(newcomer, workspaceApi.createWorkspace, { body: { name: 'Mine', urlKey } });
    assert.equal(taken.code, 'slug_taken');
    const params = { workspaceId: id, userId: member.userId };
    assert.equal((await testService.call(member, memberApi.removeMember, { params })).status, 200);

    await change(owner, id, 'UNARCHIVE');
    assert.deepEqual(await listed(owner), [id]);
    assert.equal((await testService.join(newcomer, code)).status, 200);
  });
});
