import { apiKeyApi, memberApi, workspaceApi } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestService } from './test-service.ts';
import { openTestService, SERVICE, sessionOf } from './test-service.ts';

describe('when something is away', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });
  afterEach(async () => {
    const { sync, postgres, nats, answers } = testService.stage.wires;
    for (const wire of [sync, postgres, nats]) wire.mend();
    answers.loseAnswers(0);
    await eventually(async () => (await fetch(`${testService.service.url}/ready`)).ok);
    const principal = sessionOf(randomUUID());
    // The caller may avoid an origin that failed for a moment.
    await eventually(async () => {
      const body = { name: 'Back', urlKey: newKey() };
      return (await testService.ask(principal, workspaceApi.createWorkspace, { body })).status !== 503;
    });
  });

  const newKey = (): string => `w-${randomUUID().slice(0, 18)}`;
  const create = (who: Parameters<TestService['ask']>[0], urlKey: string) =>
    testService.ask(who, workspaceApi.createWorkspace, { body: { name: 'Platform', urlKey } });

  it('the sync service: reads go on, changes are refused with a time to try again, and nothing is half done', async () => {
    const { owner } = await testService.workspace();
    testService.stage.wires.sync.cut();
    const urlKey = newKey();
    const refused = await create(owner, urlKey);
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    assert.match(refused.text, /"retryAfterSeconds":[1-9]/);
    assert.equal((await testService.ask(owner, workspaceApi.listWorkspaces, {})).body.workspaces.length, 1);
    testService.stage.wires.sync.mend();
    await eventually(async () => (await create(owner, urlKey)).status === 201);
  });

  it('the sync service, at first sight of a person: they come in later, as one person', async () => {
    const body = { issuer: 'https://issuer.example', subject: randomUUID(), name: 'Ada' };
    const resolve = () => testService.ask(SERVICE, workspaceApi.internalResolvePerson, { body });
    testService.stage.wires.sync.cut();
    assert.equal((await resolve()).code, 'unavailable');
    const claimed = await testService.stage.sql(`select user_id from workspace.identities where subject = $1`, [
      body.subject,
    ]);
    testService.stage.wires.sync.mend();
    const { userId } = await eventually(async () => {
      const answer = await resolve();
      return answer.status === 200 ? answer.body : null;
    });
    assert.deepEqual(claimed, [{ user_id: userId }]);
    const people = await testService.stage.sql(`select count(*)::int as n from sync.users where id = $1`, [userId]);
    assert.deepEqual(people, [{ n: 1 }]);
  });

  it('the sync service, while a code is redeemed: the code is kept for who tried', async () => {
    const { id, owner } = await testService.workspace();
    const email = `${randomUUID()}@example.com`;
    const [grace, twin] = [await testService.person({ email }), await testService.person({ email })];
    const { code } = await testService.invite(owner, id, { email });
    testService.stage.wires.sync.cut();
    assert.equal((await testService.join(grace, code)).code, 'unavailable');
    testService.stage.wires.sync.mend();
    assert.equal((await testService.join(twin, code)).code, 'invitation_expired');
    await eventually(async () => (await testService.join(grace, code)).status === 200);
  });

  it('the answer of the sync service: what was done is done once, and the caller is told so', async () => {
    const ada = await testService.person();
    for (let round = 0; round < 5; round += 1) {
      const urlKey = newKey();
      testService.stage.wires.answers.loseAnswers(1);
      const made = await create(ada, urlKey);
      assert.equal(testService.stage.wires.answers.lost(), 1);
      assert.equal(made.status, 201, made.text);
      const found = await testService.stage.sql(`select id from sync.workspaces where url_key = $1`, [urlKey]);
      assert.deepEqual(found, [{ id: made.body.workspace.id }]);
    }
  });

  it('the answer to a removal: it is told as done', async () => {
    const { id, owner, member } = await testService.workspace('member');
    testService.stage.wires.answers.loseAnswers(1);
    const params = { workspaceId: id, userId: member.userId };
    assert.equal((await testService.ask(owner, memberApi.removeMember, { params })).status, 200);
    assert.equal(testService.stage.wires.answers.lost(), 1);
  });

  it('the broker: a key is dead all the same, and nobody waits', async () => {
    const ada = await testService.person();
    const { key } = (await testService.ask(ada, apiKeyApi.createApiKey, { body: { label: 'ci' } })).body;
    for (const harm of ['freeze', 'cut'] as const) {
      testService.stage.wires.nats[harm]();
      const params = { keyId: harm === 'cut' ? randomUUID() : key.id };
      const started = Date.now();
      const answer = await testService.ask(ada, apiKeyApi.revokeApiKey, { params });
      assert.equal(answer.status, harm === 'cut' ? 404 : 200);
      assert.ok(Date.now() - started < 5_000);
    }
    assert.deepEqual((await testService.ask(ada, apiKeyApi.listApiKeys, {})).body.keys, []);
  });

  it('the database: everything is refused with a time to try again, and works once it is back', async () => {
    const { owner } = await testService.workspace();
    testService.stage.wires.postgres.cut();
    const refused = await testService.ask(owner, workspaceApi.listWorkspaces, {});
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    await eventually(async () => (await fetch(`${testService.service.url}/ready`)).status === 503);
    assert.equal((await fetch(`${testService.service.url}/health`)).status, 200);
    testService.stage.wires.postgres.mend();
    await eventually(async () => (await testService.ask(owner, workspaceApi.listWorkspaces, {})).status === 200);
  });
});
