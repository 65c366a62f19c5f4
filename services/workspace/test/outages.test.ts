import { memberApi, workspaceApi } from '@wts/contracts';
import { eventually, sessionOf } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

describe('during an outage', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));
  afterEach(async () => {
    const { sync, nats, auth } = testService.backends.wires;
    for (const wire of [sync, nats, auth]) wire?.mend();
    await eventually(async () => (await fetch(`${testService.service.url}/ready`)).ok);
    const principal = sessionOf(randomUUID());
    // The service may avoid an address that just failed.
    await eventually(async () => {
      const body = { name: 'Back', urlKey: newKey() };
      return (await testService.call(principal, workspaceApi.createWorkspace, { body })).status !== 503;
    });
  });

  const newKey = (): string => `w-${randomUUID().slice(0, 18)}`;
  const create = (who: Parameters<TestService['call']>[0], urlKey: string) =>
    testService.call(who, workspaceApi.createWorkspace, { body: { name: 'Platform', urlKey } });

  it('of sync, reads work, and changes get 503 with Retry-After and no partial effect', async () => {
    const { owner } = await testService.workspace();
    testService.backends.wires.sync.cut();
    const urlKey = newKey();
    const refused = await create(owner, urlKey);
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    assert.match(refused.text, /"retryAfterSeconds":[1-9]/);
    assert.equal((await testService.call(owner, workspaceApi.listWorkspaces, {})).body.workspaces.length, 1);
    testService.backends.wires.sync.mend();
    await eventually(async () => (await create(owner, urlKey)).status === 201);
  });

  it('of sync, a code stays reserved for the person who tried to redeem it', async () => {
    const { id, owner } = await testService.workspace();
    const email = `${randomUUID()}@example.com`;
    const [grace, other] = [await testService.person({ email }), await testService.person({ email })];
    const { code } = await testService.invite(owner, id, { email });
    testService.backends.wires.sync.cut();
    assert.equal((await testService.join(grace, code)).code, 'unavailable');
    testService.backends.wires.sync.mend();
    assert.equal((await testService.join(other, code)).code, 'invitation_expired');
    await eventually(async () => (await testService.join(grace, code)).status === 200);
  });

  it('in which answers of sync are lost, a workspace is created once and the caller gets it', async () => {
    const ada = await testService.person();
    for (let round = 0; round < 5; round += 1) {
      const urlKey = newKey();
      testService.backends.wires.sync.loseAnswers(1);
      const made = await create(ada, urlKey);
      assert.equal(testService.backends.wires.sync.lost(), 1);
      assert.equal(made.status, 201, made.text);
      const found = await testService.backends.sql(`select id from sync.workspaces where url_key = $1`, [urlKey]);
      assert.deepEqual(found, [{ id: made.body.workspace.id }]);
    }
  });

  it('in which the answer to a removal is lost, the caller gets 200', async () => {
    const { id, owner, member } = await testService.workspace('member');
    testService.backends.wires.sync.loseAnswers(1);
    const params = { workspaceId: id, userId: member.userId };
    assert.equal((await testService.call(owner, memberApi.removeMember, { params })).status, 200);
    assert.equal(testService.backends.wires.sync.lost(), 1);
  });

  it('of NATS, a member is removed without waiting', async () => {
    const { id, owner, member, guest } = await testService.workspace('member', 'guest');
    for (const [harm, removed] of [
      ['freeze', member],
      ['cut', guest],
    ] as const) {
      testService.backends.wires.nats[harm]();
      const params = { workspaceId: id, userId: removed.userId };
      const started = Date.now();
      assert.equal((await testService.call(owner, memberApi.removeMember, { params })).status, 200);
      assert.ok(Date.now() - started < 5_000);
    }
  });

  it('of auth, who joins gets 503, because auth knows who has the second factor that a workspace requires', async () => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    const [open, named] = [
      await testService.invite(owner, id, {}),
      await testService.invite(owner, id, { email: grace.email }),
    ];
    testService.backends.wires.auth?.cut();
    for (const { code } of [named, open]) assert.equal((await testService.join(grace, code)).code, 'unavailable');
    testService.backends.wires.auth?.mend();
    await eventually(async () => (await testService.join(grace, named.code)).status === 200);
    assert.equal((await testService.join(grace, open.code)).status, 200);
  });

  it('of auth that begins as a person joins, they are a member, and the invitations to their address are used [workspaces.join.closes]', async () => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    const open = await testService.invite(owner, id, {});
    await testService.invite(owner, id, { email: grace.email });
    const { sync, auth } = testService.backends.wires;
    sync.holdReplies();
    const joining = testService.join(grace, open.code);
    const sql = 'select from sync.workspace_members where user_id = $1';
    await eventually(async () => (await testService.backends.sql(sql, [grace.userId])).length === 1);
    auth?.cut();
    sync.mend();
    assert.equal((await joining).status, 200);
    const { body } = await testService.call(owner, memberApi.listInvitations, { params: { workspaceId: id } });
    assert.deepEqual(
      body.invitations.map((one) => one.id),
      [open.id],
    );
  });

  it('of the database, every request gets 503, and works again afterwards', async () => {
    const { owner } = await testService.workspace();
    const { wires, databaseUrl } = testService.backends;
    const replica = await testService.replica({ DATABASE_URL: wires.postgres.through(databaseUrl) });
    const { url } = replica.service;
    assert.equal((await replica.call(owner, workspaceApi.listWorkspaces, {})).status, 200);
    wires.postgres.cut();
    const refused = await replica.call(owner, workspaceApi.listWorkspaces, {});
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    await eventually(async () => (await fetch(`${url}/ready`)).status === 503);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    wires.postgres.mend();
    await eventually(async () => (await replica.call(owner, workspaceApi.listWorkspaces, {})).status === 200);
    await replica.service.close();
  });
});
