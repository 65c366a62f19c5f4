import { apiKeyApi, credentialApi } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { openTestService, SERVICE, type TestService } from './test-service.ts';

describe('during an outage', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));
  afterEach(async () => {
    const { sync, nats } = testService.backends.wires;
    for (const wire of [sync, nats]) wire.mend();
    await eventually(async () => (await fetch(`${testService.service.url}/ready`)).ok);
    const body = { issuer: 'https://issuer.example', subject: randomUUID() };
    // The service may avoid an address that just failed.
    await eventually(
      async () => (await testService.call(SERVICE, credentialApi.internalResolvePerson, { body })).status === 200,
    );
  });

  it('of sync, the first request of a person fails, and retries create one person', async () => {
    const body = { issuer: 'https://issuer.example', subject: randomUUID(), name: 'Ada' };
    const resolve = () => testService.call(SERVICE, credentialApi.internalResolvePerson, { body });
    testService.backends.wires.sync.cut();
    assert.equal((await resolve()).code, 'unavailable');
    const claimed = await testService.backends.sql(`select user_id from auth.identities where subject = $1`, [
      body.subject,
    ]);
    testService.backends.wires.sync.mend();
    const { userId } = await eventually(async () => {
      const answer = await resolve();
      return answer.status === 200 ? answer.body : null;
    });
    assert.deepEqual(claimed, [{ user_id: userId }]);
    assert.equal((await testService.recordOf(userId))?.['name'], 'Ada');
  });

  it('of sync, credentials of people are known and people revoke their keys; what memberships decide is refused', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const { key } = (await testService.call(owner, apiKeyApi.createApiKey, { body: { label: 'ci' } })).body;
    const tokenHash = createHash('sha256').update(key.token).digest('hex');
    const resolved = () => testService.call(SERVICE, credentialApi.internalResolveApiKey, { body: { tokenHash } });
    testService.backends.wires.sync.cut();
    assert.equal((await resolved()).body.principal?.userId, owner.userId);
    const ofWorkspace = await testService.call(owner, apiKeyApi.listApiKeys, { query: { workspaceId } });
    assert.deepEqual([ofWorkspace.status, ofWorkspace.code], [503, 'unavailable']);
    const params = { keyId: key.id };
    assert.equal((await testService.call(owner, apiKeyApi.revokeApiKey, { params })).status, 200);
    assert.equal((await resolved()).body.principal, null);
  });

  it('of NATS, a key is revoked without waiting', async () => {
    const ada = await testService.person();
    const { key } = (await testService.call(ada, apiKeyApi.createApiKey, { body: { label: 'ci' } })).body;
    for (const harm of ['freeze', 'cut'] as const) {
      testService.backends.wires.nats[harm]();
      const params = { keyId: harm === 'cut' ? randomUUID() : key.id };
      const started = Date.now();
      const answer = await testService.call(ada, apiKeyApi.revokeApiKey, { params });
      assert.equal(answer.status, harm === 'cut' ? 404 : 200);
      assert.ok(Date.now() - started < 5_000);
    }
    assert.deepEqual((await testService.call(ada, apiKeyApi.listApiKeys, {})).body.keys, []);
  });

  it('of the database, every request gets 503, and works again afterwards', async () => {
    const ada = await testService.person();
    const { wires, databaseUrl } = testService.backends;
    const replica = await testService.replica({ DATABASE_URL: wires.postgres.through(databaseUrl) });
    const { url } = replica.service;
    assert.equal((await replica.call(ada, apiKeyApi.listApiKeys, {})).status, 200);
    wires.postgres.cut();
    const refused = await replica.call(ada, apiKeyApi.listApiKeys, {});
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable']);
    await eventually(async () => (await fetch(`${url}/ready`)).status === 503);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    wires.postgres.mend();
    await eventually(async () => (await replica.call(ada, apiKeyApi.listApiKeys, {})).status === 200);
    await replica.service.close();
  });
});
