import { tokenMinter } from '@wts/access';
import type { Principal } from '@wts/contracts';
import { apiKeyApi, HEADERS, memberApi, workspaceApi } from '@wts/contracts';
import { eventually, type OperationReply } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import type { TestPerson, TestService } from './test-service.ts';
import { SECRET } from './backends.ts';
import { openTestService, sessionOf } from './test-service.ts';

describe('an Idempotency-Key', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const createKey = (
    who: TestPerson | Principal,
    key: string,
    label = 'ci',
  ): Promise<OperationReply<typeof apiKeyApi.createApiKey>> =>
    testService.call(who, apiKeyApi.createApiKey, { body: { label }, headers: { 'idempotency-key': key } });
  const labelsOf = async (who: TestPerson): Promise<string[]> =>
    (await testService.call(who, apiKeyApi.listApiKeys, {})).body.keys.map(({ label }) => label);

  it('repeats the first answer byte for byte, without a second effect [idempotency.replay]', async () => {
    const ada = await testService.person();
    const first = await createKey(ada, 'a key');
    const second = await createKey(ada, 'a key');
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.equal(second.text, first.text);
    assert.equal(first.headers['idempotency-replayed'], undefined);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.equal(second.headers['cache-control'], 'no-store');
    assert.deepEqual(await labelsOf(ada), ['ci']);
  });

  it('repeats the first answer also after the secret of the cluster was changed [idempotency.replay, authentication.internal.rotation]', async () => {
    const ada = await testService.person();
    const first = await createKey(ada, 'across');
    const changed = await testService.replica({
      INTERNAL_TOKEN_SECRET: 'the second secret of the cluster, for all services',
      INTERNAL_TOKEN_SECRET_ACCEPTED: SECRET,
    });
    try {
      const headers = { 'idempotency-key': 'across' };
      const second = await changed.call(ada, apiKeyApi.createApiKey, { body: { label: 'ci' }, headers });
      assert.deepEqual([second.status, second.text], [201, first.text]);
      const other = await changed.call(ada, apiKeyApi.createApiKey, { body: { label: 'other' }, headers });
      assert.equal(other.code, 'idempotency_mismatch');
      assert.deepEqual(await labelsOf(ada), ['ci']);
    } finally {
      await changed.service.close();
    }
  });

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

  it('creates one key and one invitation when the process crashes before it stores the answer [idempotency.replay]', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const headers = { 'idempotency-key': randomUUID() };
    const invite = () =>
      testService.call(owner, memberApi.createInvitation, { params: { workspaceId }, body: {}, headers });
    const forget = () => testService.backends.sql(`delete from workspace.idempotency_keys`);
    const first = [await createKey(owner, 'lost'), await invite()] as const;
    await forget();
    const second = [await createKey(owner, 'lost'), await invite()] as const;
    assert.deepEqual(
      [second[0].body.key.id, second[1].body.invitation.id],
      [first[0].body.key.id, first[1].body.invitation.id],
    );
    assert.deepEqual(await labelsOf(owner), ['ci']);
    const grace = await testService.person();
    assert.equal((await testService.join(grace, first[1].body.invitation.code)).code, 'not_found');
    assert.equal((await testService.join(grace, second[1].body.invitation.code)).status, 200);
    // On another day the same key may be used for another request.
    for (const table of ['api_keys', 'invitations']) {
      await testService.backends.sql(
        `update workspace.${table} set created_at = created_at - interval '25 hours'
        where id = any($1)`,
        [[first[0].body.key.id, first[1].body.invitation.id]],
      );
    }
    await forget();
    assert.notEqual((await createKey(owner, 'lost')).body.key.id, first[0].body.key.id);
    assert.notEqual((await invite()).body.invitation.id, first[1].body.invitation.id);
    assert.deepEqual(await labelsOf(owner), ['ci', 'ci']);
  });

  it('is refused with a different request [idempotency.mismatch]', async () => {
    const ada = await testService.workspace();
    const ben = await testService.workspace();
    await createKey(ada.owner, 'k', 'one');
    const other = await createKey(ada.owner, 'k', 'two');
    assert.deepEqual([other.status, other.code], [422, 'idempotency_mismatch']);
    assert.deepEqual(await labelsOf(ada.owner), ['one']);
    // The path is part of the request.
    const headers = { 'idempotency-key': 'i' };
    const invite = (workspaceId: string): Promise<{ status: number }> =>
      testService.call(ada.owner, memberApi.createInvitation, { params: { workspaceId }, body: {}, headers });
    assert.deepEqual([(await invite(ada.id)).status, (await invite(ben.id)).status], [201, 422]);
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
    testService.backends.wires.answers.loseAnswers(100);
    assert.equal((await create('lost')).code, 'unavailable');
    testService.backends.wires.answers.loseAnswers(0);
    const [made] = await testService.backends.sql(`select id from sync.workspaces where url_key = $1`, [urlKey]);
    assert.notEqual(made, undefined);
    const again = await eventually(async () => {
      const answer = await create('lost');
      return answer.status === 503 ? undefined : answer;
    });
    assert.deepEqual([again.status, again.body.workspace.id], [201, made?.['id']], again.text);
    assert.equal((await create('another')).code, 'slug_taken');
  });

  it('returns the answer of the created resource also when that answer cannot be stored [idempotency.in-flight]', async () => {
    const ada = await testService.person();
    await testService.backends.sql(
      `alter table workspace.idempotency_keys add constraint unwritable check (status is null) not valid`,
    );
    try {
      assert.equal((await createKey(ada, 'unwritten')).status, 201);
      assert.equal((await createKey(ada, 'unwritten')).code, 'idempotency_in_flight');
      assert.deepEqual(await labelsOf(ada), ['ci']);
    } finally {
      await testService.backends.sql(`alter table workspace.idempotency_keys drop constraint unwritable`);
    }
  });

  it('has one effect in parallel requests, which get the same answer or 409 with Retry-After [idempotency.in-flight]', async () => {
    const ada = await testService.person();
    const answers = await Promise.all(Array.from({ length: 8 }, () => createKey(ada, 'at once')));
    const made = answers.filter(({ status }) => status === 201);
    assert.ok(made.length > 0);
    assert.equal(new Set(made.map(({ text }) => text)).size, 1);
    for (const { status, code, headers } of answers) {
      if (status === 201) continue;
      assert.deepEqual([status, code, headers['retry-after']], [409, 'idempotency_in_flight', '1']);
    }
    assert.deepEqual(await labelsOf(ada), ['ci']);
  });

  it('of a process that crashed can be used again after its lease expires [idempotency.in-flight]', async () => {
    const ada = await testService.person();
    await createKey(ada, 'crash');
    // The state that a process leaves when it is killed between the two writes.
    const dies = `update workspace.idempotency_keys set status = null, body = null, expires_at = now() + interval '1 minute'
      where expires_at > now() + interval '23 hours 59 minutes' returning key_hash`;
    await testService.backends.sql(dies);
    assert.equal((await createKey(ada, 'crash')).code, 'idempotency_in_flight');
    await testService.backends.sql(`update workspace.idempotency_keys set expires_at = now() where status is null`);
    assert.equal((await createKey(ada, 'crash')).status, 201);
  });

  it('expires and is deleted after its time [idempotency.replay, never.unbounded]', async () => {
    const ada = await testService.person();
    await createKey(ada, 'old');
    await testService.backends.sql(`update workspace.idempotency_keys set expires_at = now()`);
    const again = await createKey(ada, 'old');
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, undefined]);
    await createKey(ada, 'new');
    const [left] = await testService.backends.sql(
      `select count(*)::int as over from workspace.idempotency_keys where expires_at <= now()`,
    );
    assert.equal(left?.['over'], 0);
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

  it('belongs to one credential and one operation; a signed-in person may use a new token [idempotency.scope]', async () => {
    const [ada, eve] = [await testService.person(), await testService.person()];
    const first = await createKey(ada, 'mine');
    assert.notEqual((await createKey(eve, 'mine')).text, first.text);
    assert.equal((await createKey(sessionOf(ada.userId), 'mine')).text, first.text);
    const narrow: Principal = { ...ada.principal, credential: { kind: 'api_key', id: randomUUID() } };
    assert.notEqual((await createKey(narrow, 'mine')).text, first.text);
    const body = { name: 'Own', urlKey: `w-${randomUUID().slice(0, 18)}` };
    const headers = { 'idempotency-key': 'mine' };
    assert.equal((await testService.call(ada, workspaceApi.createWorkspace, { body, headers })).status, 201);
  });

  it('is stored as a hash, and its answer encrypted [idempotency.secrets]', async () => {
    const ada = await testService.person();
    const key = `key-${randomUUID()}`;
    const { token } = (await createKey(ada, key)).body.key;
    const stored = await testService.backends.sql(
      `select encode(key_hash, 'escape') as key, encode(body, 'escape') as body, encode(fingerprint, 'escape') as print
       from workspace.idempotency_keys`,
    );
    assert.ok(stored.length > 0);
    for (const needle of [token, token.slice(12), key, ada.userId]) {
      assert.ok(!JSON.stringify(stored).includes(needle));
    }
  });

  it('has 1 to 255 printable characters and is sent once', async () => {
    const ada = await testService.person();
    assert.equal((await createKey(ada, 'x'.repeat(255))).status, 201);
    for (const key of ['x'.repeat(256), '', 'a\tb', 'caf\u00e9']) {
      assert.equal((await createKey(ada, key)).code, 'validation_failed', JSON.stringify(key));
    }
    // `fetch` would join the two.
    const twice = await supertest(testService.service.url)
      .post(apiKeyApi.createApiKey.path)
      .set(HEADERS.principal, tokenMinter({ from: 'gateway', to: 'workspace', secret: SECRET })(ada.principal))
      .set('idempotency-key', ['one', 'two'] as unknown as string)
      .send({ label: 'ci' });
    assert.equal((twice.body as { code?: string }).code, 'validation_failed', twice.text);
  });
});
