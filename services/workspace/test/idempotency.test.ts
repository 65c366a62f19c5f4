import { memberApi, workspaceApi } from '@wts/contracts';
import { eventually, type OperationReply } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

describe('an Idempotency-Key', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  it('repeats a refusal that a retry cannot change [idempotency.replay]', async () => {
    const [ada, ben] = [await testService.person(), await testService.workspace()];
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'Taken', urlKey: ben.urlKey };
    const first = await testService.call(ada, workspaceApi.createWorkspace, { body, headers });
    const second = await testService.call(ada, workspaceApi.createWorkspace, { body, headers });
    assert.deepEqual([first.code, second.code], ['slug_taken', 'slug_taken']);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotency-replayed'], 'true');
  });

  it('creates one invitation when the process crashes before it stores the answer [idempotency.replay]', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const headers = { 'idempotency-key': randomUUID() };
    const invite = async () =>
      (await testService.call(owner, memberApi.createInvitation, { params: { workspaceId }, body: {}, headers })).body
        .invitation;
    const forget = () => testService.backends.sql(`delete from workspace.idempotency_keys`);
    const first = await invite();
    await forget();
    const second = await invite();
    assert.equal(second.id, first.id);
    const grace = await testService.person();
    assert.equal((await testService.join(grace, first.code)).code, 'not_found');
    assert.equal((await testService.join(grace, second.code)).status, 200);
    // On another day the same key may be used for another request.
    const age = `update workspace.invitations set created_at = created_at - interval '25 hours' where id = $1`;
    await testService.backends.sql(age, [first.id]);
    await forget();
    assert.notEqual((await invite()).id, first.id);
  });

  it('of a join repeats the answer only while the person is in the workspace [workspaces.join.replay, idempotency.replay]', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const ada = await testService.person();
    const { code } = await testService.invite(owner, workspaceId, { role: 'admin' });
    const headers = { 'idempotency-key': randomUUID() };
    const join = () => testService.call(ada, memberApi.joinWorkspace, { body: { code }, headers });
    const first = await join();
    assert.deepEqual([first.status, first.body.role], [200, 'admin']);
    const again = await join();
    assert.deepEqual([again.text, again.headers['idempotency-replayed']], [first.text, 'true']);
    const params = { workspaceId, userId: ada.userId };
    assert.equal((await testService.call(owner, memberApi.removeMember, { params })).status, 200);
    for (const _ of [1, 2]) {
      const late = await join();
      assert.deepEqual([late.status, late.code], [410, 'invitation_expired']);
    }
  });

  it('is refused with a different request [idempotency.mismatch]', async () => {
    const ada = await testService.workspace();
    const ben = await testService.workspace();
    const headers = { 'idempotency-key': 'i' };
    const invite = (workspaceId: string, body: object = {}) =>
      testService.call(ada.owner, memberApi.createInvitation, { params: { workspaceId }, body, headers });
    assert.equal((await invite(ada.id)).status, 201);
    const other = await invite(ada.id, { role: 'guest' });
    assert.deepEqual([other.status, other.code], [422, 'idempotency_mismatch']);
    // The path is part of the request.
    assert.equal((await invite(ben.id)).status, 422);
    const { body } = await testService.call(ada.owner, memberApi.listInvitations, { params: { workspaceId: ada.id } });
    assert.equal(body.invitations.length, 1);
  });

  it('accepts the same request with its fields in another order [idempotency.mismatch, idempotency.replay]', async () => {
    const ada = await testService.workspace();
    const invite = (body: object): Promise<{ status: number; text: string }> =>
      testService.call(ada.owner, memberApi.createInvitation, {
        params: { workspaceId: ada.id },
        body,
        headers: { 'idempotency-key': 'order' },
      });
    const first = await invite({ role: 'guest', expiresInDays: 3 });
    assert.equal((await invite({ expiresInDays: 3, role: 'guest' })).text, first.text);
    assert.equal((await invite({ expiresInDays: 3, role: 'member' })).status, 422);
  });

  it('finds the workspace it created when every answer of sync was lost [idempotency.replay, workspaces.create.taken]', async () => {
    const ada = await testService.person();
    const urlKey = `w-${randomUUID().slice(0, 18)}`;
    const create = (key: string): Promise<OperationReply<typeof workspaceApi.createWorkspace>> =>
      testService.call(ada, workspaceApi.createWorkspace, {
        body: { name: 'Mine', urlKey },
        headers: { 'idempotency-key': key },
      });
    testService.backends.wires.sync.loseAnswers(100);
    assert.equal((await create('lost')).code, 'unavailable');
    testService.backends.wires.sync.loseAnswers(0);
    const [made] = await testService.backends.sql(`select id from sync.workspaces where url_key = $1`, [urlKey]);
    assert.notEqual(made, undefined);
    const again = await eventually(async () => {
      const answer = await create('lost');
      return answer.status === 503 ? undefined : answer;
    });
    assert.deepEqual([again.status, again.body.workspace.id], [201, made?.['id']], again.text);
    assert.equal((await create('another')).code, 'slug_taken');
  });

  it('does not store a failure that a retry may change [idempotency.retryable]', async () => {
    const ada = await testService.person();
    const body = { name: 'Later', urlKey: `w-${randomUUID().slice(0, 18)}` };
    const create = (): Promise<OperationReply<typeof workspaceApi.createWorkspace>> =>
      testService.call(ada, workspaceApi.createWorkspace, { body, headers: { 'idempotency-key': 'later' } });
    testService.backends.wires.sync.cut();
    const refused = await create();
    testService.backends.wires.sync.mend();
    assert.equal(refused.status, 503);
    const made = await eventually(async () => {
      const answer = await create();
      return answer.status === 201 ? answer : undefined;
    });
    assert.equal(made.headers['idempotency-replayed'], undefined);
  });
});
