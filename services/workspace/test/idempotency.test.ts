import type { Principal } from '@wts/contracts';
import { apiKeyApi, memberApi, workspaceApi } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Answer, Person, TestService } from './test-service.ts';
import { SECRET } from './stage.ts';
import { openTestService, sessionOf } from './test-service.ts';

describe('An Idempotency-Key', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const createKey = (
    who: Person | Principal,
    key: string,
    label = 'ci',
  ): Promise<Answer<typeof apiKeyApi.createApiKey>> =>
    testService.ask(who, apiKeyApi.createApiKey, { body: { label }, headers: { 'idempotency-key': key } });
  const labelsOf = async (who: Person): Promise<string[]> =>
    (await testService.ask(who, apiKeyApi.listApiKeys, {})).body.keys.map(({ label }) => label);

  it('brings the first answer back, to the byte, without a second effect [idempotency.replay]', async () => {
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

  it('brings it back also where the secret of the cluster was changed meanwhile [idempotency.replay, authentication.internal.rotation]', async () => {
    const ada = await testService.person();
    const first = await createKey(ada, 'across');
    const changed = await testService.replica({
      INTERNAL_TOKEN_SECRET: 'what comes after the first one, for all',
      INTERNAL_TOKEN_SECRET_ACCEPTED: SECRET,
    });
    try {
      const headers = { 'idempotency-key': 'across' };
      const second = await changed.ask(ada, apiKeyApi.createApiKey, { body: { label: 'ci' }, headers });
      assert.deepEqual([second.status, second.text], [201, first.text]);
      const other = await changed.ask(ada, apiKeyApi.createApiKey, { body: { label: 'other' }, headers });
      assert.equal(other.code, 'idempotency_mismatch');
      assert.deepEqual(await labelsOf(ada), ['ci']);
    } finally {
      await changed.service.close();
    }
  });

  it('brings a refusal back too, as long as asking again would not help [idempotency.replay]', async () => {
    const [ada, ben] = [await testService.person(), await testService.workspace()];
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'Taken', urlKey: ben.urlKey };
    const first = await testService.ask(ada, workspaceApi.createWorkspace, { body, headers });
    const second = await testService.ask(ada, workspaceApi.createWorkspace, { body, headers });
    assert.deepEqual([first.code, second.code], ['slug_taken', 'slug_taken']);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotency-replayed'], 'true');
  });

  it('leaves one key and one invitation behind when the process died before it kept the answer [idempotency.replay]', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const headers = { 'idempotency-key': randomUUID() };
    const invite = () =>
      testService.ask(owner, memberApi.createInvitation, { params: { workspaceId }, body: {}, headers });
    const forget = () => testService.stage.sql(`delete from workspace.idempotency_keys`);
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
    // On another day the same key stands for something else.
    for (const table of ['api_keys', 'invitations']) {
      await testService.stage.sql(
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

  it('is refused with another request [idempotency.mismatch]', async () => {
    const ada = await testService.workspace();
    const ben = await testService.workspace();
    await createKey(ada.owner, 'k', 'one');
    const other = await createKey(ada.owner, 'k', 'two');
    assert.deepEqual([other.status, other.code], [422, 'idempotency_mismatch']);
    assert.deepEqual(await labelsOf(ada.owner), ['one']);
    // The place an operation is asked for is part of the request.
    const headers = { 'idempotency-key': 'i' };
    const invite = (workspaceId: string): Promise<{ status: number }> =>
      testService.ask(ada.owner, memberApi.createInvitation, { params: { workspaceId }, body: {}, headers });
    assert.deepEqual([(await invite(ada.id)).status, (await invite(ben.id)).status], [201, 422]);
  });

  it('means the same request, however its fields are ordered [idempotency.mismatch, idempotency.replay]', async () => {
    const ada = await testService.workspace();
    const invite = (body: object): Promise<{ status: number; text: string }> =>
      testService.ask(ada.owner, memberApi.createInvitation, {
        params: { workspaceId: ada.id },
        body,
        headers: { 'idempotency-key': 'order' },
      });
    const first = await invite({ role: 'guest', expiresInDays: 3 });
    assert.equal((await invite({ expiresInDays: 3, role: 'guest' })).text, first.text);
    assert.equal((await invite({ expiresInDays: 3, role: 'member' })).status, 422);
  });

  it('finds a workspace that was made while its answer got lost on every way [idempotency.replay, workspaces.create.taken]', async () => {
    const ada = await testService.person();
    const urlKey = `w-${randomUUID().slice(0, 18)}`;
    const create = (key: string): Promise<Answer<typeof workspaceApi.createWorkspace>> =>
      testService.ask(ada, workspaceApi.createWorkspace, {
        body: { name: 'Mine', urlKey },
        headers: { 'idempotency-key': key },
      });
    testService.stage.wires.answers.loseAnswers(100);
    assert.equal((await create('lost')).code, 'unavailable');
    testService.stage.wires.answers.loseAnswers(0);
    const [made] = await testService.stage.sql(`select id from sync.workspaces where url_key = $1`, [urlKey]);
    assert.notEqual(made, undefined);
    const again = await eventually(async () => {
      const answer = await create('lost');
      return answer.status === 503 ? undefined : answer;
    });
    assert.deepEqual([again.status, again.body.workspace.id], [201, made?.['id']], again.text);
    assert.equal((await create('another')).code, 'slug_taken');
  });

  it('does not undo the word of what was done when it cannot be written down [idempotency.in-flight]', async () => {
    const ada = await testService.person();
    await testService.stage.sql(
      `alter table workspace.idempotency_keys add constraint unwritable check (status is null) not valid`,
    );
    try {
      assert.equal((await createKey(ada, 'unwritten')).status, 201);
      assert.equal((await createKey(ada, 'unwritten')).code, 'idempotency_in_flight');
      assert.deepEqual(await labelsOf(ada), ['ci']);
    } finally {
      await testService.stage.sql(`alter table workspace.idempotency_keys drop constraint unwritable`);
    }
  });

  it('is one effect when many ask at once, and they are told to come again [idempotency.in-flight]', async () => {
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

  it('whose request died with its process is free once its lease is over [idempotency.in-flight]', async () => {
    const ada = await testService.person();
    await createKey(ada, 'crash');
    // As a process leaves it that is killed between the two writes.
    const dies = `update workspace.idempotency_keys set status = null, body = null, expires_at = now() + interval '1 minute'
      where expires_at > now() + interval '23 hours 59 minutes' returning key_hash`;
    await testService.stage.sql(dies);
    assert.equal((await createKey(ada, 'crash')).code, 'idempotency_in_flight');
    await testService.stage.sql(`update workspace.idempotency_keys set expires_at = now() where status is null`);
    assert.equal((await createKey(ada, 'crash')).status, 201);
  });

  it('is over after its time, and cleared away [idempotency.replay, never.unbounded]', async () => {
    const ada = await testService.person();
    await createKey(ada, 'old');
    await testService.stage.sql(`update workspace.idempotency_keys set expires_at = now()`);
    const again = await createKey(ada, 'old');
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, undefined]);
    await createKey(ada, 'new');
    const [left] = await testService.stage.sql(
      `select count(*)::int as over from workspace.idempotency_keys where expires_at <= now()`,
    );
    assert.equal(left?.['over'], 0);
  });

  it('does not hold on to what may succeed later [idempotency.retryable]', async () => {
    const ada = await testService.person();
    const body = { name: 'Later', urlKey: `w-${randomUUID().slice(0, 18)}` };
    const ask = (): Promise<Answer<typeof workspaceApi.createWorkspace>> =>
      testService.ask(ada, workspaceApi.createWorkspace, { body, headers: { 'idempotency-key': 'later' } });
    testService.stage.wires.sync.cut();
    const refused = await ask();
    testService.stage.wires.sync.mend();
    assert.equal(refused.status, 503);
    const made = await eventually(async () => {
      const answer = await ask();
      return answer.status === 201 ? answer : undefined;
    });
    assert.equal(made.headers['idempotency-replayed'], undefined);
  });

  it('is of one credential and one operation; a signed-in person may come with a new token [idempotency.scope]', async () => {
    const [ada, eve] = [await testService.person(), await testService.person()];
    const first = await createKey(ada, 'mine');
    assert.notEqual((await createKey(eve, 'mine')).text, first.text);
    assert.equal((await createKey(sessionOf(ada.userId), 'mine')).text, first.text);
    const narrow: Principal = { ...ada.principal, credential: { kind: 'api_key', id: randomUUID() } };
    assert.notEqual((await createKey(narrow, 'mine')).text, first.text);
    const body = { name: 'Own', urlKey: `w-${randomUUID().slice(0, 18)}` };
    const headers = { 'idempotency-key': 'mine' };
    assert.equal((await testService.ask(ada, workspaceApi.createWorkspace, { body, headers })).status, 201);
  });

  it('keeps no secret in clear, nor itself [idempotency.secrets]', async () => {
    const ada = await testService.person();
    const key = `key-${randomUUID()}`;
    const { token } = (await createKey(ada, key)).body.key;
    const stored = await testService.stage.sql(
      `select encode(key_hash, 'escape') as key, encode(body, 'escape') as body, encode(fingerprint, 'escape') as print
       from workspace.idempotency_keys`,
    );
    assert.ok(stored.length > 0);
    for (const needle of [token, token.slice(12), key, ada.userId]) {
      assert.ok(!JSON.stringify(stored).includes(needle));
    }
  });

  it('is 1 to 255 printable characters, given once', async () => {
    const ada = await testService.person();
    assert.equal((await createKey(ada, 'x'.repeat(255))).status, 201);
    for (const key of ['x'.repeat(256), '', 'a\tb', 'caf\u00e9']) {
      assert.equal((await createKey(ada, key)).code, 'validation_failed', JSON.stringify(key));
    }
    const twice = ['one', 'two'] as unknown as string;
    assert.equal((await createKey(ada, twice)).code, 'validation_failed');
  });
});
