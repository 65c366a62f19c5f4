import { HEADERS, LIMITS, memberApi, privateProjectApi, type MutateReply } from '@wts/contracts';
import { minterFor, type TestPerson } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

describe('private projects', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const make = async (who: TestPerson, modelName: string, payload: object, modelId: string = randomUUID()) => {
    const transaction = { clientTxId: randomUUID(), clientId: 'test', modelName, modelId, action: 'INSERT', payload };
    const mint = minterFor('gateway', 'sync');
    const answer = await fetch(new URL('/sync/mutate', testService.backends.syncUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [HEADERS.principal]: mint(who.principal) },
      body: JSON.stringify({ batchId: 'b', transactions: [transaction] }),
    });
    const reply = (await answer.json()) as MutateReply;
    assert.ok(reply.success, JSON.stringify(reply));
    return modelId;
  };
  const project = (who: TestPerson, workspaceId: string, more: object = {}): Promise<string> =>
    make(who, 'Project', {
      workspaceId,
      key: 'P',
      name: 'Hiring',
      isPrivate: true,
      description: 'the content',
      ...more,
    });
  const list = (who: TestPerson, workspaceId: string, query: Record<string, string> = {}) =>
    testService.call(who, privateProjectApi.listPrivateProjects, { params: { workspaceId }, query });
  const members = (who: TestPerson, workspaceId: string, projectId: string, query: Record<string, string> = {}) =>
    testService.call(who, privateProjectApi.listPrivateProjectMembers, { params: { workspaceId, projectId }, query });
  const add = (who: TestPerson, workspaceId: string, projectId: string, userId: string) =>
    testService.call(who, privateProjectApi.addPrivateProjectMember, {
      params: { workspaceId, projectId },
      body: { userId },
    });
  const remove = async (who: TestPerson, workspaceId: string, projectId: string, userId: string) => {
    const params = { workspaceId, projectId, userId };
    const { code, status } = await testService.call(who, privateProjectApi.removePrivateProjectMember, { params });
    return code ?? status;
  };

  it('show their name and no content to owners and admins who are not their members [workspaces.private-projects.list]', async () => {
    const { id, owner, admin, member } = await testService.workspace('admin', 'member');
    const projectId = await project(member, id, { leadId: member.userId });
    await project(member, id, { key: 'OPEN', isPrivate: false });
    await make(member, 'Task', { workspaceId: id, projectId, title: 'the content' });
    for (const who of [owner, admin]) {
      const { body, text } = await list(who, id);
      const [seen] = body.projects;
      assert.deepEqual(
        { ...seen, createdAt: '' },
        {
          id: projectId,
          name: 'Hiring',
          key: 'P',
          leadId: member.userId,
          creatorId: member.userId,
          memberCount: 1,
          createdAt: '',
          archivedAt: null,
        },
      );
      assert.deepEqual([body.projects.length, body.hasMore], [1, false]);
      assert.ok(!text.includes('the content'));
      const inside = await members(who, id, projectId);
      assert.deepEqual(
        inside.body.members.map(({ userId, role }) => [userId, role]),
        [[member.userId, 'member']],
      );
    }
  });

  it('give members, guests and outsiders the same answers whether any exist or not [workspaces.private-projects.list]', async () => {
    const { id, owner, member, guest } = await testService.workspace('member', 'guest');
    const projectId = await project(member, id);
    const elsewhere = await testService.workspace();
    const cases = [
      [member, id, projectId, 'forbidden'],
      [guest, id, projectId, 'forbidden'],
      [member, id, randomUUID(), 'forbidden'],
      [elsewhere.owner, id, projectId, 'not_found'],
      [elsewhere.owner, elsewhere.id, projectId, 'not_found'],
      [owner, id, await project(member, id, { key: 'OPEN', isPrivate: false }), 'not_found'],
      [owner, id, randomUUID(), 'not_found'],
    ] as const;
    for (const [who, workspaceId, asked, code] of cases) {
      assert.equal((await members(who, workspaceId, asked)).code, code);
      assert.equal((await add(who, workspaceId, asked, who.userId)).code, code);
      assert.equal(await remove(who, workspaceId, asked, member.userId), code);
      const isElsewhere = workspaceId === elsewhere.id;
      if (who !== owner && !isElsewhere) assert.equal((await list(who, workspaceId)).code, code);
    }
    assert.deepEqual((await list(elsewhere.owner, elsewhere.id)).body.projects, []);
    const reader = { ...owner.principal, scopes: ['read'] as const };
    const params = { workspaceId: id, projectId };
    const body = { userId: owner.userId };
    const refused = await testService.call(reader, privateProjectApi.addPrivateProjectMember, { params, body });
    assert.equal(refused.code, 'insufficient_scope');
    assert.equal((await members(owner, id, projectId)).body.members.length, 1);
  });

  it('get and lose members by owners and admins of the workspace [workspaces.private-projects.members]', async () => {
    const { id, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    const projectId = await project(member, id);
    const first = await add(admin, id, projectId, guest.userId);
    assert.deepEqual([first.status, first.body.member.userId, first.body.member.role], [200, guest.userId, 'guest']);
    assert.deepEqual((await add(admin, id, projectId, guest.userId.toUpperCase())).body, first.body);
    const many = await Promise.all(Array.from({ length: 4 }, () => add(admin, id, projectId, admin.userId)));
    assert.deepEqual(new Set(many.map(({ status }) => status)), new Set([200]));
    assert.equal((await list(admin, id)).body.projects[0]?.memberCount, 3);
    for (const who of [guest, member, admin]) assert.equal(await remove(admin, id, projectId, who.userId), 200);
    assert.equal(await remove(admin, id, projectId, member.userId), 'not_found');
    assert.deepEqual((await members(admin, id, projectId)).body.members, []);
    // The project has no member any more, and owners can still find it and add members.
    assert.equal((await add(admin, id, projectId, member.userId)).status, 200);
    assert.equal((await add(admin, id, projectId, (await testService.person()).userId)).code, 'not_found');
  });

  it('do not count people who left the workspace', async () => {
    const { id, owner, member, guest } = await testService.workspace('member', 'guest');
    const projectId = await project(member, id);
    await add(owner, id, projectId, guest.userId);
    await testService.call(owner, memberApi.removeMember, { params: { workspaceId: id, userId: guest.userId } });
    assert.equal((await list(owner, id)).body.projects[0]?.memberCount, 1);
  });

  it('and their members are listed in pages, each exactly once', async () => {
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await project(member, id, { key: `P${n}` }));
    const seen: string[] = [];
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const { body } = await list(owner, id, { limit: '2', ...(after === undefined ? {} : { after }) });
      assert.ok(body.projects.length <= 2);
      seen.push(...body.projects.map((one) => one.id));
      if (!body.hasMore) break;
    }
    assert.deepEqual(seen, made.toSorted());
    const [projectId = ''] = made;
    const inside = [owner, admin, guest, member].map(({ userId }) => userId).sort();
    for (const userId of inside) await add(owner, id, projectId, userId);
    const first = (await members(owner, id, projectId, { limit: '3' })).body;
    const second = (await members(owner, id, projectId, { after: first.members.at(-1)?.userId ?? '' })).body;
    assert.deepEqual(
      [...first.members, ...second.members].map(({ userId }) => userId),
      inside,
    );
    assert.deepEqual([first.hasMore, second.hasMore], [true, false]);
    for (const [limit, expected] of [
      ['0', 1],
      ['9'.repeat(64), 5],
    ] as const) {
      assert.equal((await list(owner, id, { limit })).body.projects.length, expected);
    }
    for (const bad of [{ limit: '-1' }, { limit: 'x' }, { after: 'x' }])
      assert.equal((await list(owner, id, bad)).code, 'validation_failed');
    assert.ok(LIMITS.listPageDefault <= LIMITS.listPageMax);
  });
});
