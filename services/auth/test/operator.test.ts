import { apiKeyApi, credentialApi, oauthApi, operatorApi } from '@wts/contracts';
import type { Contract, OperatorPersonDetail } from '@wts/contracts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtProgram, hiddenOf, nodeEnvironment, sessionOf } from '@wts/testkit';
import { addPasskey, optionsOf, present } from './factors.ts';
import { TestOperator } from './operator.ts';
import { openTestPages, type TestPages } from './people.ts';
import { SERVICE, type TestService } from './test-service.ts';

const run = promisify(execFile);
const ISSUER = 'https://issuer.example';

describe('an operator', () => {
  let pages: TestPages;
  let other: TestPages;
  let operator: TestOperator;
  let testService: TestService;
  before(async () => {
    [pages, other] = await Promise.all([openTestPages(), openTestPages()]);
    testService = pages.testService;
    operator = await TestOperator.of(testService);
  });
  after(() => Promise.all([pages, other].map((one) => one.testService.service.close())));

  const sql = async <T>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
    (await testService.backends.sql(text, values)) as T[];
  const kindsOf = async (userId: string): Promise<string[]> => {
    const query = `select kind from auth.events where user_id = $1 and actor = 'operator' and actor_id = $2 order by at`;
    return (await sql<{ kind: string }>(query, [userId, operator.id])).map(({ kind }) => kind);
  };
  const detail = async (userId: string): Promise<OperatorPersonDetail> => {
    const found = await operator.call(operatorApi.readPerson, { params: { userId } });
    assert.equal(found.status, 200, found.text);
    return found.body.person;
  };
  const keyOf = async (userId: string): Promise<string> => {
    const made = await testService.call(sessionOf(userId), apiKeyApi.createApiKey, { body: { label: 'ci' } });
    return made.body.key.token;
  };
  const appOf = async (userId: string): Promise<string> => {
    const [client, grant] = [randomUUID(), randomUUID()];
    await sql(
      `insert into auth.clients (id, name, redirect_uris, auth_method, grant_types) values ($1, 'App', '{https://a.example}', 'none', '{}')`,
      [client],
    );
    await sql(
      `insert into auth.grants (id, user_id, client_id, client_name, scopes, resources, signed_in_at, used_at, expires_at)
        values ($1, $2, $3, 'App', '{read}', '{https://api.example}', now(), now(), now() + interval '1 day')`,
      [grant, userId, client],
    );
    return grant;
  };
  const grantIsLive = async (grantId: string): Promise<boolean> =>
    (await testService.call(SERVICE, oauthApi.internalResolveGrant, { body: { grantId } })).body.grant !== null;

  it('gets a token only from the program on the machine, and no other credential counts [operator.token.only, operator.token.made-here]', async () => {
    const program = await builtProgram(join(import.meta.dirname, '../src/operator.ts'));
    const script = (...words: string[]) =>
      run(process.execPath, [program, 'token', ...words], {
        env: { ...nodeEnvironment(), DATABASE_URL: testService.backends.databaseUrl },
      });
    const token = (await script('create', 'from a test')).stdout.trim();
    assert.match(token, /^wtsop_\w{49}$/);
    const usage = async (authorization?: string): Promise<Response> =>
      fetch(`${testService.service.url}/operator/usage`, {
        headers: authorization === undefined ? {} : { authorization },
      });
    assert.equal((await usage(`Bearer ${token}`)).status, 200);
    const listed = (await script('list')).stdout.split('\n').find((line) => line.includes('from a test'));
    assert.ok(!listed?.includes(token.slice(6)));
    const { id } = JSON.parse(listed ?? '{}') as { id: string };
    assert.match((await script('revoke', id)).stdout, /Revoked/);
    const key = await keyOf((await testService.person()).userId);
    for (const wrong of [undefined, token, `Bearer ${token}`, `Bearer ${key}`, `Bearer wtsop_${'x'.repeat(49)}`]) {
      const refused = await usage(wrong);
      assert.equal(refused.status, 401);
      assert.match(refused.headers.get('www-authenticate') ?? '', /realm="operator"/);
    }
    for (const { id: operation, method, path } of Object.values<Contract>(operatorApi)) {
      const at = `${testService.service.url}${path.replaceAll(/\{\w+\}/g, () => randomUUID())}`;
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      assert.equal((await fetch(at, { method, headers })).status, 401, operation);
    }
  });

  it('finds people by a part of the name, an address or the id, page by page [operator.people.find]', async () => {
    const mark = randomUUID().slice(0, 8);
    const people = await Promise.all(
      ['Ann', 'Bob', 'Cid'].map((name) =>
        testService.person({ name: `${name} ${mark}`, email: `${name}-${mark}@example.com` }),
      ),
    );
    const find = async (query: Record<string, string>) => (await operator.call(operatorApi.listPeople, { query })).body;
    const first = await find({ text: mark.toUpperCase(), limit: '2' });
    assert.deepEqual([first.people.map(({ name }) => name), first.hasMore], [[`Ann ${mark}`, `Bob ${mark}`], true]);
    const rest = await find({ text: mark, limit: '2', after: first.people[1]?.userId ?? '' });
    assert.deepEqual([rest.people.map(({ name }) => name), rest.hasMore], [[`Cid ${mark}`], false]);
    for (const text of [`cid-${mark}@EXAMPLE.com`, people[2]?.userId ?? '']) {
      assert.deepEqual(
        (await find({ text })).people.map(({ userId }) => userId),
        [people[2]?.userId],
      );
    }
    assert.equal((await operator.call(operatorApi.readPerson, { params: { userId: randomUUID() } })).code, 'not_found');
  });

  it('answers 400 for a text in more addresses than can be compared, and leaves out no person of fewer [operator.people.find]', async () => {
    const mark = randomUUID();
    const add = (from: number, to: number) =>
      sql(
        `insert into auth.identities (identity_hash, issuer, subject, user_id, email)
          select sha256(convert_to($1::text || n, 'UTF8')), 'many', $1::text || n, gen_random_uuid(), n || '@' || $1
          from generate_series($2::int, $3::int) n`,
        [mark, from, to],
      );
    const person = await testService.person();
    await add(1, 9_999);
    await sql(
      `insert into auth.identities (identity_hash, issuer, subject, user_id, email) values (sha256($1), 'many', $2, $3, $4)`,
      [Buffer.from(mark), mark, person.userId, `z@${mark}`],
    );
    const find = () => operator.call(operatorApi.listPeople, { query: { text: mark } });
    assert.deepEqual(
      (await find()).body.people.map(({ userId }) => userId),
      [person.userId],
    );
    await add(10_000, 10_000);
    const { status, text } = await find();
    assert.equal(status, 400);
    assert.match(text, /more than 10000 people\. Give a longer one/);
    await sql(`delete from auth.identities where issuer = 'many'`, []);
  });

  it('disables a person on every road: password, session, provider token, key and app, at once on each replica [operator.disable.everywhere]', async () => {
    const { browser, account } = await pages.signedIn();
    const userId = await testService.userOf(account);
    const [key, app] = [await keyOf(userId), await appOf(userId)];
    const subject = randomUUID();
    await sql(
      `insert into auth.identities (identity_hash, issuer, subject, user_id, person_created_at) values (sha256($1), $2, $3, $4, now())`,
      [Buffer.from(`${ISSUER.length}:${ISSUER}${subject}`), ISSUER, subject, userId],
    );
    const resolve = () =>
      other.testService.call(SERVICE, credentialApi.internalResolvePerson, { body: { issuer: ISSUER, subject } });
    assert.equal((await resolve()).body.userId, userId);
    const published = await testService.backends.revocations();
    const disabled = await operator.call(operatorApi.disablePerson, { params: { userId } });
    assert.equal(disabled.status, 200, disabled.text);
    assert.notEqual(disabled.body.person.disabledAt, null);
    assert.deepEqual([disabled.body.person.sessions, disabled.body.person.apps], [[], []]);
    // The app, then everything.
    assert.deepEqual(await published.next(), { kind: 'credential', userId, credentialKind: 'oauth' });
    assert.deepEqual(await published.next(), { kind: 'credential', userId });

    assert.match((await browser.get('/account')).to?.pathname ?? '', /sign-in/);
    const signIn = () => other.browser().submit('/sign-in', { email: account.email, password: account.password });
    const refused = await signIn();
    assert.deepEqual([refused.status, refused.setCookies.some((line) => line.includes('session='))], [403, false]);
    assert.match(refused.text, /disabled/);
    const wrong = await other.browser().submit('/sign-in', { email: account.email, password: 'wrong' });
    assert.equal(wrong.status, 422, 'who has no password learns nothing');
    assert.deepEqual(
      [(await testService.resolveKey(key)) !== null, await grantIsLive(app), (await resolve()).code],
      [false, false, 'forbidden'],
    );

    const enabled = await operator.call(operatorApi.enablePerson, { params: { userId } });
    assert.equal(enabled.body.person.disabledAt, null);
    assert.deepEqual(
      [(await testService.resolveKey(key)) !== null, await grantIsLive(app), (await resolve()).body.userId],
      [true, false, userId],
    );
    assert.match((await browser.get('/account')).to?.pathname ?? '', /sign-in/, 'the old session stays ended');
    assert.equal((await signIn()).status, 303);
    assert.deepEqual(await kindsOf(userId), ['person-disabled', 'person-enabled']);
  });

  it('leaves nothing usable of a sign-in that runs while the person is disabled [operator.disable.everywhere]', async () => {
    const account = await pages.account();
    const first = await pages.signedIn(account);
    const userId = await testService.userOf(account);
    for (let round = 0; round < 4; round += 1) {
      const browsers = [pages, other, pages].map((one) => one.browser());
      const attempts = browsers.map((browser) =>
        browser.submit('/sign-in', { email: account.email, password: account.password }),
      );
      const disabled = await operator.call(operatorApi.disablePerson, { params: { userId } });
      assert.equal(disabled.status, 200);
      await Promise.all(attempts);
      const usable = async () =>
        (await Promise.all([first.browser, ...browsers].map((browser) => browser.get('/account')))).filter(
          ({ status }) => status === 200,
        );
      assert.deepEqual(await usable(), []);
      await operator.call(operatorApi.enablePerson, { params: { userId } });
      assert.deepEqual(await usable(), [], 'no session of before comes back');
    }
  });

  it('disables a passkey too, alone and as the second step after the password [operator.disable.everywhere]', async () => {
    const { browser, account } = await pages.signedIn();
    const { authenticator } = await addPasskey(pages, browser);
    const userId = await testService.userOf(account);
    assert.equal((await operator.call(operatorApi.disablePerson, { params: { userId } })).status, 200);
    const alone = pages.browser();
    const signIn = await alone.get('/sign-in');
    const passkey = authenticator.get(optionsOf(signIn, 'get'));
    const answer = await alone.post('/sign-in/passkey', { ...hiddenOf(signIn, '/sign-in/passkey'), passkey });
    assert.deepEqual([answer.status, /disabled/.test(answer.text)], [403, true]);
    const second = pages.browser();
    const attempt = await second.submit('/sign-in', { email: account.email, password: account.password });
    if (attempt.status === 303) {
      const page = await second.get(`${attempt.to?.pathname}${attempt.to?.search}`);
      const given = { passkey: authenticator.get(optionsOf(page, 'get')) };
      assert.equal((await present(second, page, given)).status, 403);
    }
    for (const one of [alone, second]) assert.notEqual((await one.get('/account')).status, 200);
  });

  it('reports a disabled person to services that missed the message, with all credentials [operator.disable.everywhere]', async () => {
    const { userId } = await testService.person();
    const list = (body: { since?: string }) =>
      testService.call(SERVICE, credentialApi.internalListRevokedCredentials, { body });
    const { at: since } = (await list({})).body;
    await operator.call(operatorApi.disablePerson, { params: { userId } });
    const { credentials } = (await list({ since })).body;
    const reported = credentials.filter((one) => one.userId === userId).map(({ isAll }) => isAll);
    assert.deepEqual(reported, [true]);
  });

  it('ends the sessions and apps of a person, whose keys stay', async () => {
    const { browser, account } = await pages.signedIn();
    const userId = await testService.userOf(account);
    const [key, app] = [await keyOf(userId), await appOf(userId)];
    assert.equal((await operator.call(operatorApi.endSessions, { params: { userId } })).status, 200);
    assert.notEqual((await browser.get('/account')).status, 200);
    assert.deepEqual([(await testService.resolveKey(key)) !== null, await grantIsLive(app)], [true, false]);
    assert.deepEqual(await kindsOf(userId), ['sessions-ended']);
  });

  it('makes a link for a new password, which is not for a person without an account or who is disabled', async () => {
    const { account } = await pages.signedIn();
    const userId = await testService.userOf(account);
    const made = await operator.call(operatorApi.makeResetLink, { params: { userId } });
    assert.equal(made.status, 201, made.text);
    assert.equal((await pages.browser().get(made.body.link.url.slice(pages.issuer.length))).status, 200);
    assert.deepEqual(await kindsOf(userId), ['reset-link-made']);
    const repeat = async (who: TestOperator): Promise<string> =>
      (await who.call(operatorApi.makeResetLink, { params: { userId }, headers: { 'idempotency-key': userId } })).body
        .link.url;
    const [first, second] = [await repeat(operator), await repeat(operator)];
    assert.equal(second, first, 'a lost answer is repeated');
    assert.notEqual(await repeat(await TestOperator.of(testService)), first, 'to the same operator alone');
    const { userId: without } = await testService.person();
    const refused = async (id: string): Promise<[string | undefined, string]> => {
      const { code, text } = await operator.call(operatorApi.makeResetLink, { params: { userId: id } });
      return [code, /disabled/.exec(text)?.[0] ?? ''];
    };
    assert.deepEqual(await refused(without), ['conflict', '']);
    await operator.call(operatorApi.disablePerson, { params: { userId } });
    assert.deepEqual(await refused(userId), ['conflict', 'disabled'], 'the link of a disabled person cannot work');
  });

  it('removes the second factors of a person who lost them, so that the password is enough [operator.factors.remove]', async () => {
    const account = await pages.account();
    await pages.signedIn(account);
    const userId = await testService.userOf(account);
    const remove = () => operator.call(operatorApi.removeSecondFactors, { params: { userId } });
    assert.equal((await remove()).code, 'not_found');
    await sql(`insert into auth.totp (account_id, secret, sealed_with, last_step) values ($1, 'x', 'key', 0)`, [
      account.id,
    ]);
    await sql(
      `insert into auth.passkeys (id, account_id, credential_id, public_key, sign_count, transports, name)
        values ($1, $2, 'c', 'k', 0, '{}', 'Phone')`,
      [randomUUID(), account.id],
    );
    assert.deepEqual((await detail(userId)).secondFactors.map(({ name }) => name).toSorted(), [
      'Authenticator app',
      'Phone',
    ]);
    const removed = await remove();
    assert.deepEqual(removed.body.person.secondFactors, [], removed.text);
    assert.deepEqual(await kindsOf(userId), ['factor-removed']);
    await pages.signedIn(account);
  });

  it('deletes and restores a workspace, and gives it an owner when its owners left', async () => {
    const workspace = await testService.workspace('member');
    const params = { workspaceId: workspace.id };
    const list = await operator.call(operatorApi.listWorkspaces, { query: { text: workspace.id } });
    const [found] = list.body.workspaces;
    assert.deepEqual([found?.members, found?.owners.map(({ userId }) => userId)], [2, [workspace.owner.userId]]);
    const urlKey = found?.urlKey ?? '';
    const remove = (key: string) => operator.call(operatorApi.deleteWorkspace, { params, body: { urlKey: key } });
    assert.equal((await remove('another')).code, 'validation_failed');
    assert.notEqual((await remove(urlKey)).body.workspace.archivedAt, null);
    const add = () => operator.call(operatorApi.addOwner, { params, body: { userId: workspace.member.userId } });
    const restored = await operator.call(operatorApi.restoreWorkspace, { params });
    assert.equal(restored.body.workspace.archivedAt, null);
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual(
        (await add()).body.workspace.owners.map(({ userId }) => userId).toSorted(),
        [workspace.owner.userId, workspace.member.userId].toSorted(),
      );
    }
    await operator.call(operatorApi.disablePerson, { params: { userId: workspace.member.userId } });
    assert.equal((await add()).code, 'conflict', 'of a disabled owner the workspace has nothing');
    const kinds = await sql<{ kind: string }>(`select kind from auth.events where workspace_id = $1 order by at`, [
      workspace.id,
    ]);
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['workspace-deleted', 'workspace-restored', 'owner-made'],
    );
    const { usage } = (await operator.call(operatorApi.readUsage, {})).body;
    assert.ok(usage.people >= 2 && usage.workspaces >= 1 && usage.databaseBytes > 1e6);
  });

  it('exports everything that is stored of a person, without a secret [operator.export.whole]', async () => {
    const { account } = await pages.signedIn();
    const userId = await testService.userOf(account);
    const workspace = await testService.workspace();
    await testService.addMember(workspace.id, userId, 'member');
    const key = await keyOf(userId);
    const answer = await fetch(`${testService.service.url}/operator/people/${userId}/export`, {
      headers: { authorization: `Bearer ${operator.token}` },
    });
    const text = await answer.text();
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; lines?: number });
    assert.deepEqual(lines.at(-1), { type: 'end', lines: lines.length - 1 });
    const types = new Set(lines.map(({ type }) => type));
    for (const type of ['User', 'WorkspaceMember', 'identity', 'account', 'session', 'key', 'event'])
      assert.ok(types.has(type), type);
    for (const secret of [key.slice(12), 'scrypt', 'hash']) assert.ok(!text.includes(secret), secret);
    assert.deepEqual(await kindsOf(userId), ['person-exported']);
  });

  it('erases a person: no look-up finds them, others see no name, and the answer says what stays [operator.erase.gone]', async () => {
    const { account } = await pages.signedIn();
    const userId = await testService.userOf(account);
    const workspace = await testService.workspace();
    await testService.addMember(workspace.id, userId, 'member');
    const { name, sessions } = await detail(userId);
    assert.match(sessions[0]?.lastNetwork ?? '', /^10\./);
    const key = await keyOf(userId);
    await sql(
      `insert into auth.mails (id, kind, recipient, state, ended_at, ends_at) values (gen_random_uuid(), 'invitation', $1, 'sent', now(), now())`,
      [account.email.toUpperCase()],
    );
    const erase = (confirmed: string) =>
      operator.call(operatorApi.erasePerson, { params: { userId }, body: { name: confirmed } });
    assert.equal((await erase('Another')).code, 'validation_failed');
    assert.ok((await testService.resolveKey(key)) !== null);
    const erased = await erase(name);
    assert.equal(erased.status, 200, erased.text);
    assert.match(erased.body.stays.join(' '), /Deleted person/);
    const person = await detail(userId);
    const { createdAt, disabledAt, erasedAt, lastSeenAt, ...rest } = person;
    assert.deepEqual(rest, {
      userId,
      name: 'Deleted person',
      email: null,
      workspaces: 0,
      account: null,
      secondFactors: [],
      identities: [],
      memberships: [],
      sessions: [],
      keys: [],
      apps: [],
    });
    assert.ok(erasedAt !== null && disabledAt !== null && createdAt !== null && lastSeenAt === null);
    const leftovers = await sql(
      `select id from auth.accounts where id::text = $1 union all select id from auth.mails where lower(recipient) = $2`,
      [account.id, account.email],
    );
    assert.deepEqual([leftovers.length, (await testService.resolveKey(key)) !== null], [0, false]);
    const signIn = await pages.browser().submit('/sign-in', { email: account.email, password: account.password });
    assert.equal(signIn.status, 422);
    assert.equal((await operator.call(operatorApi.enablePerson, { params: { userId } })).code, 'conflict');
    assert.equal((await erase(name)).status, 200, 'a second time changes nothing');
    const owner = await detail(workspace.owner.userId);
    const refused = await operator.call(operatorApi.erasePerson, {
      params: { userId: owner.userId },
      body: { name: owner.name },
    });
    assert.equal(refused.code, 'last_owner');
    assert.equal((await detail(owner.userId)).disabledAt, null);
  });
});
