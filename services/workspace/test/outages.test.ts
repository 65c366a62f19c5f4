import { apiKeyApi, memberApi, workspaceApi } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { World } from './world.ts';
import { openWorld, SERVICE, sessionOf } from './world.ts';

describe('when something is away', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  afterEach(async () => {
    const { sync, postgres, nats, answers } = world.stage.wires;
    for (const wire of [sync, postgres, nats]) wire.mend();
    answers.loseAnswers(0);
    await eventually(async () => (await fetch(`${world.service.url}/ready`)).ok);
    const principal = sessionOf(randomUUID());
    // The caller may avoid an origin that failed for a moment.
    await eventually(async () => {
      const body = { name: 'Back', urlKey: newKey() };
      return (await world.ask(principal, workspaceApi.createWorkspace, { body })).status !== 503;
    });
  });

  const newKey = (): string => `w-${randomUUID().slice(0, 18)}`;
  const create = (who: Parameters<World['ask']>[0], urlKey: string) =>
    world.ask(who, workspaceApi.createWorkspace, { body: { name: 'Platform', urlKey } });

  it('the sync service: reads go on, changes are refused with a time to try again, and nothing is half done', async () => {
    const { owner } = await world.workspace();
    world.stage.wires.sync.cut();
    const urlKey = newKey();
    const refused = await create(owner, urlKey);
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    assert.match(refused.text, /"retryAfterSeconds":[1-9]/);
    assert.equal((await world.ask(owner, workspaceApi.listWorkspaces, {})).body.workspaces.length, 1);
    world.stage.wires.sync.mend();
    await eventually(async () => (await create(owner, urlKey)).status === 201);
  });

  it('the sync service, at first sight of a person: they come in later, as one person', async () => {
    const body = { issuer: 'https://issuer.example', subject: randomUUID(), name: 'Ada' };
    const resolve = () => world.ask(SERVICE, workspaceApi.internalResolvePerson, { body });
    world.stage.wires.sync.cut();
    assert.equal((await resolve()).code, 'unavailable');
    const claimed = await world.stage.sql(`select user_id from workspace.identities where subject = $1`, [
      body.subject,
    ]);
    world.stage.wires.sync.mend();
    const { userId } = await eventually(async () => {
      const answer = await resolve();
      return answer.status === 200 ? answer.body : null;
    });
    assert.deepEqual(claimed, [{ user_id: userId }]);
    const people = await world.stage.sql(`select count(*)::int as n from sync.users where id = $1`, [userId]);
    assert.deepEqual(people, [{ n: 1 }]);
  });

  it('the sync service, while a code is redeemed: the code is kept for who tried', async () => {
    const { id, owner } = await world.workspace();
    const email = `${randomUUID()}@example.com`;
    const [grace, twin] = [await world.person({ email }), await world.person({ email })];
    const { code } = await world.invite(owner, id, { email });
    world.stage.wires.sync.cut();
    assert.equal((await world.join(grace, code)).code, 'unavailable');
    world.stage.wires.sync.mend();
    assert.equal((await world.join(twin, code)).code, 'invitation_expired');
    await eventually(async () => (await world.join(grace, code)).status === 200);
  });

  it('the answer of the sync service: what was done is done once, and the caller is told so', async () => {
    const ada = await world.person();
    for (let round = 0; round < 5; round += 1) {
      const urlKey = newKey();
      world.stage.wires.answers.loseAnswers(1);
      const made = await create(ada, urlKey);
      assert.equal(world.stage.wires.answers.lost(), 1);
      assert.equal(made.status, 201, made.text);
      const found = await world.stage.sql(`select id from sync.workspaces where url_key = $1`, [urlKey]);
      assert.deepEqual(found, [{ id: made.body.workspace.id }]);
    }
  });

  it('the answer to a removal: it is told as done', async () => {
    const { id, owner, member } = await world.workspace('member');
    world.stage.wires.answers.loseAnswers(1);
    const params = { workspaceId: id, userId: member.userId };
    assert.equal((await world.ask(owner, memberApi.removeMember, { params })).status, 200);
    assert.equal(world.stage.wires.answers.lost(), 1);
  });

  it('the broker: a key is dead all the same, and nobody waits', async () => {
    const ada = await world.person();
    const { key } = (await world.ask(ada, apiKeyApi.createApiKey, { body: { label: 'ci' } })).body;
    for (const harm of ['freeze', 'cut'] as const) {
      world.stage.wires.nats[harm]();
      const params = { keyId: harm === 'cut' ? randomUUID() : key.id };
      const started = Date.now();
      const answer = await world.ask(ada, apiKeyApi.revokeApiKey, { params });
      assert.equal(answer.status, harm === 'cut' ? 404 : 200);
      assert.ok(Date.now() - started < 5_000);
    }
    assert.deepEqual((await world.ask(ada, apiKeyApi.listApiKeys, {})).body.keys, []);
  });

  it('the database: everything is refused with a time to try again, and works once it is back', async () => {
    const { owner } = await world.workspace();
    world.stage.wires.postgres.cut();
    const refused = await world.ask(owner, workspaceApi.listWorkspaces, {});
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    await eventually(async () => (await fetch(`${world.service.url}/ready`)).status === 503);
    assert.equal((await fetch(`${world.service.url}/health`)).status, 200);
    world.stage.wires.postgres.mend();
    await eventually(async () => (await world.ask(owner, workspaceApi.listWorkspaces, {})).status === 200);
  });
});
