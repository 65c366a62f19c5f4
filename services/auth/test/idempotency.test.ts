import { apiKeyApi, HEADERS, type Principal } from '@wts/contracts';
import { minterFor, type OperationReply, sessionOf, type TestPerson, tokenEnvironment } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { openTestService, type TestService } from './test-service.ts';

describe('an Idempotency-Key', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

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

  it('repeats the first answer also after REPLAY_SECRET was changed [idempotency.replay, idempotency.rotation]', async () => {
    const ada = await testService.person();
    const first = await createKey(ada, 'across');
    const changed = await testService.replica({
      REPLAY_SECRET: `the second secret of the replicas of auth,${tokenEnvironment('auth')['REPLAY_SECRET']}`,
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

  it('creates one key when the process crashes before it stores the answer [idempotency.replay]', async () => {
    const ada = await testService.person();
    const deleteStored = () => testService.backends.sql(`delete from auth.idempotency_keys`);
    const first = (await createKey(ada, 'lost')).body.key;
    await deleteStored();
    const second = (await createKey(ada, 'lost')).body.key;
    assert.equal(second.id, first.id);
    assert.notEqual(second.token, first.token);
    assert.deepEqual(await labelsOf(ada), ['ci']);
    // On another day the same key may be used for another request.
    const age = `update auth.api_keys set created_at = created_at - interval '25 hours' where id = $1`;
    await testService.backends.sql(age, [first.id]);
    await deleteStored();
    assert.notEqual((await createKey(ada, 'lost')).body.key.id, first.id);
    assert.deepEqual(await labelsOf(ada), ['ci', 'ci']);
  });

  it('returns the answer of the created resource also when that answer cannot be stored [idempotency.in-flight]', async () => {
    const ada = await testService.person();
    await testService.backends.sql(
      `alter table auth.idempotency_keys add constraint unwritable check (status is null) not valid`,
    );
    try {
      assert.equal((await createKey(ada, 'unwritten')).status, 201);
      assert.equal((await createKey(ada, 'unwritten')).code, 'idempotency_in_flight');
      assert.deepEqual(await labelsOf(ada), ['ci']);
    } finally {
      await testService.backends.sql(`alter table auth.idempotency_keys drop constraint unwritable`);
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
    const crash = `update auth.idempotency_keys set status = null, body = null, expires_at = now() + interval '1 minute'
      where expires_at > now() + interval '23 hours 59 minutes' returning key_hash`;
    await testService.backends.sql(crash);
    assert.equal((await createKey(ada, 'crash')).code, 'idempotency_in_flight');
    await testService.backends.sql(`update auth.idempotency_keys set expires_at = now() where status is null`);
    assert.equal((await createKey(ada, 'crash')).status, 201);
  });

  it('expires and is deleted after its time [idempotency.replay, never.unbounded]', async () => {
    const ada = await testService.person();
    await createKey(ada, 'old');
    await testService.backends.sql(`update auth.idempotency_keys set expires_at = now()`);
    const again = await createKey(ada, 'old');
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, undefined]);
    await createKey(ada, 'new');
    const [left] = await testService.backends.sql(
      `select count(*)::int as over from auth.idempotency_keys where expires_at <= now()`,
    );
    assert.equal(left?.['over'], 0);
  });

  it('belongs to one credential and one operation; a signed-in person may use a new token [idempotency.scope]', async () => {
    const [ada, eve] = [await testService.person(), await testService.person()];
    const first = await createKey(ada, 'mine');
    assert.notEqual((await createKey(eve, 'mine')).text, first.text);
    assert.equal((await createKey(sessionOf(ada.userId), 'mine')).text, first.text);
    const narrow: Principal = { ...ada.principal, credential: { kind: 'api_key', id: randomUUID() } };
    assert.notEqual((await createKey(narrow, 'mine')).text, first.text);
    const body = { label: 'ci', permissions: 'read-only' } as const;
    const headers = { 'idempotency-key': 'mine' };
    assert.equal((await testService.call(ada, apiKeyApi.internalCreateApiKey, { body, headers })).status, 201);
  });

  it('is stored as a hash, and its answer encrypted [idempotency.secrets]', async () => {
    const ada = await testService.person();
    const key = `key-${randomUUID()}`;
    const { token } = (await createKey(ada, key)).body.key;
    const stored = await testService.backends.sql(
      `select encode(key_hash, 'escape') as key, encode(body, 'escape') as body, encode(fingerprint, 'escape') as print
       from auth.idempotency_keys`,
    );
    assert.ok(stored.length > 0);
    for (const needle of [token, token.slice(12), key, ada.userId]) assert.ok(!JSON.stringify(stored).includes(needle));
  });

  it('has 1 to 255 printable characters and is sent once', async () => {
    const ada = await testService.person();
    assert.equal((await createKey(ada, 'x'.repeat(255))).status, 201);
    for (const key of ['x'.repeat(256), '', 'a\tb', 'caf\u00e9'])
      assert.equal((await createKey(ada, key)).code, 'validation_failed', JSON.stringify(key));
    // `fetch` would join the two.
    const twice = await supertest(testService.service.url)
      .post(apiKeyApi.createApiKey.path)
      .set(HEADERS.principal, minterFor('gateway', 'auth')(ada.principal))
      .set('idempotency-key', ['one', 'two'] as unknown as string)
      .send({ label: 'ci' });
    assert.equal((twice.body as { code?: string }).code, 'validation_failed', twice.text);
  });
});
