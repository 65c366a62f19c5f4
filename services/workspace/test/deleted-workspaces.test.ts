import type { TestPerson } from '@wts/testkit';
import { memberApi, workspaceApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { openTestService, type TestService } from './test-service.ts';

describe('a workspace that its owner deleted', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const remove = (who: TestPerson, workspaceId: string, urlKey: string) =>
    testService.call(who, workspaceApi.deleteWorkspace, { params: { workspaceId }, body: { urlKey } });
  const restore = (who: TestPerson, workspaceId: string) =>
    testService.call(who, workspaceApi.restoreWorkspace, { params: { workspaceId } });

  it('was deleted with its urlKey by an owner, and is restored by one [trash.workspace.delete]', async () => {
    const { id, urlKey, owner, admin, member } = await testService.workspace('admin', 'member');
    for (const who of [admin, member]) assert.equal((await remove(who, id, urlKey)).code, 'forbidden');
    assert.equal((await remove(await testService.person(), id, urlKey)).code, 'not_found');
    assert.equal((await remove(owner, id, 'another')).code, 'validation_failed');
    const { archivedAt } = (await remove(owner, id, urlKey)).body.workspace;
    assert.equal(typeof archivedAt, 'string');
    assert.equal((await remove(owner, id, urlKey)).body.workspace.archivedAt, archivedAt);
    assert.equal((await restore(admin, id)).code, 'forbidden');
    assert.equal((await restore(owner, id)).body.workspace.archivedAt, null);
    assert.equal((await restore(owner, id)).status, 200);
  });

  it('is found by its urlKey alone, and admits no person until it is restored [trash.workspace.read-only]', async () => {
    const { id, urlKey, owner, member } = await testService.workspace('member');
    const { code } = await testService.invite(owner, id, {});
    const newcomer = await testService.person();
    const listed = async (who: TestPerson): Promise<string[]> =>
      (await testService.call(who, workspaceApi.listWorkspaces, {})).body.workspaces.map((one) => one.id);
    assert.deepEqual(await listed(member), [id]);

    await remove(owner, id, urlKey);
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

    await restore(owner, id);
    assert.deepEqual(await listed(owner), [id]);
    assert.equal((await testService.join(newcomer, code)).status, 200);
  });
});
