import { generateApiKey } from '@wts/access';
import { credentialApi, oauthApi, workspaceSecurityApi, type Revocation } from '@wts/contracts';
import { hiddenOf, sessionOf, type TestBrowser, type TestPerson } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addApp, addPasskey } from './factors.ts';
import { openTestPages, type TestAccount, type TestPages } from './people.ts';
import { SERVICE } from './test-service.ts';

class Setup {
  readonly pages: TestPages;

  constructor(pages: TestPages) {
    this.pages = pages;
  }

  sql(text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> {
    return this.pages.testService.backends.sql(text, values);
  }

  async userOf({ email }: TestAccount): Promise<string> {
    const [found] = await this.sql(`select user_id from auth.identities where email = $1`, [email]);
    return String(found?.['user_id']);
  }

  async personOf(account: TestAccount): Promise<TestPerson> {
    const userId = await this.userOf(account);
    return { userId, email: account.email, principal: sessionOf(userId) };
  }

  /** A key and a grant of a person. */
  async credentials(userId: string): Promise<{ tokenHash: string; grantId: string }> {
    const { hash, keyPrefix } = generateApiKey('wts_');
    await this.sql(
      `insert into auth.api_keys (id, user_id, label, key_prefix, token_hash, permissions) values ($1, $2, 'a', $3, decode($4, 'hex'), 'full-access')`,
      [randomUUID(), userId, keyPrefix, hash],
    );
    const [clientId, grantId] = [randomUUID(), randomUUID()];
    await this.sql(
      `insert into auth.clients (id, redirect_uris, auth_method, grant_types) values ($1, '{https://a.example}', 'none', '{authorization_code}')`,
      [clientId],
    );
    await this.sql(
      `insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, used_at, expires_at)
        values ($1, $2, $3, '{read,write}', '{https://api.example}', now(), now(), now() + interval '1 day')`,
      [grantId, userId, clientId],
    );
    return { tokenHash: hash, grantId };
  }

  /** What verifiers learn of a key and of a grant: the status, and whether there is something. */
  async resolved({ tokenHash, grantId }: { tokenHash: string; grantId: string }): Promise<unknown[]> {
    const key = await this.pages.testService.call(SERVICE, credentialApi.internalResolveApiKey, {
      body: { tokenHash },
    });
    const grant = await this.pages.testService.call(SERVICE, oauthApi.internalResolveGrant, { body: { grantId } });
    return [
      key.status === 200 ? key.body.principal !== null : (key.body as { code?: string }).code,
      grant.status === 200 ? grant.body.grant !== null : (grant.body as { code?: string }).code,
    ];
  }
}

const REFUSED = 'second_factor_required';

describe('a second factor that the operator requires', () => {
  let setup: Setup;
  before(async () => (setup = new Setup(await openTestPages({ SECOND_FACTOR: 'required' }))));
  after(() => setup.pages.testService.service.close());

  const enrol = '/account/second-factor';
  const refusedOf = async (browser: TestBrowser, paths: readonly string[]): Promise<void> => {
    for (const path of paths) {
      const { status, to } = await browser.get(path);
      assert.deepEqual([status, to?.pathname], [303, enrol], path);
    }
  };

  it('leaves a person without one only the page that adds one, from which they go on to what they came for [authentication.factors.required]', async () => {
    const { pages } = setup;
    const { browser, account } = await pages.signedIn();
    const credentials = await setup.credentials(await setup.userOf(account));
    await refusedOf(browser, ['/account', '/consent?request=x', '/account/connect/decision?request=x', '/join?code=x']);
    assert.equal((await browser.get('/join?code=x%26y')).to?.search, '?invitation=x%26y');
    assert.equal((await browser.get('/account/connect/decision?request=x')).to?.search, '?connect=x');
    const page = await browser.get(`${enrol}?request=y`);
    assert.match(page.text, /Add a second factor/);
    // Neither a form that the person has a token for.
    const { csrf = '' } = hiddenOf(page, '/sign-out');
    for (const path of ['/account/keys', '/account/password', '/consent', '/account/connect/decision', '/join']) {
      const answer = await browser.post(path, { csrf, label: 'x', code: 'x', decision: 'allow', request: 'x' });
      assert.deepEqual([answer.status, answer.to?.pathname], [303, enrol], path);
    }
    assert.equal(
      (await setup.sql(`select from auth.api_keys where user_id = $1`, [await setup.userOf(account)])).length,
      1,
    );
    assert.deepEqual(await setup.resolved(credentials), [REFUSED, REFUSED]);
    const { secret, answer } = await addApp(browser, `${enrol}?request=y`);
    assert.equal(secret.length, 20);
    assert.match(answer.text, /href="https:\/\/auth\.example\/consent\?request=y"/);
    assert.equal((await browser.get('/account')).status, 200);
    assert.deepEqual(await setup.resolved(credentials), [true, true]);
  });

  it('leaves the pages of mailed links and of a forgotten password open [authentication.factors.required]', async () => {
    const { browser } = await setup.pages.signedIn();
    assert.equal((await browser.get('/account')).to?.pathname, enrol);
    assert.equal((await browser.get('/forgot-password')).status, 200);
    assert.equal((await browser.get('/link?token=x')).status, 404, 'an unknown one');
    const { csrf = '' } = hiddenOf(await browser.get('/sign-in'), '/sign-in');
    assert.equal((await browser.post('/forgot-password', { csrf, email: 'ada@example.com' })).status, 422, 'no mail');
    assert.equal((await browser.post('/link', { csrf, token: 'x' })).status, 404);
  });

  it('cannot be removed when it is the last one, also by two removals at once [authentication.factors.last]', async () => {
    const { pages } = setup;
    const { browser, account } = await pages.signedIn();
    await addApp(browser, enrol);
    await addPasskey(pages, browser);
    const page = await browser.get('/account/security');
    const remove = /href="(\/account\/passkeys\/[^"]+\/remove)"/.exec(page.text)?.[1] ?? '';
    const statuses = await Promise.all([browser.submit(remove, {}), browser.submit('/account/totp/remove', {})]);
    assert.deepEqual(
      statuses.map(({ status }) => status).toSorted((a, b) => a - b),
      [303, 409],
    );
    const left = await setup.sql(
      `select account_id from auth.passkeys where account_id = $1 union all select account_id from auth.totp where account_id = $1`,
      [account.id],
    );
    assert.equal(left.length, 1);
  });

  it('is not asked of people of an identity provider, who have theirs there [authentication.factors.required]', async () => {
    const person = await setup.pages.testService.person();
    assert.deepEqual(await setup.resolved(await setup.credentials(person.userId)), [true, true]);
  });
});

describe('a second factor that a workspace requires', () => {
  let setup: Setup;
  before(async () => (setup = new Setup(await openTestPages())));
  after(() => setup.pages.testService.service.close());

  it('signs its members without one out and refuses their credentials, until they add one [authentication.factors.workspace, authentication.factors.required]', async () => {
    const { pages } = setup;
    const { testService } = pages;
    const { browser, account } = await pages.signedIn();
    const member = await setup.personOf(account);
    const other = await pages.signedIn();
    const owner = await setup.personOf(other.account);
    const { id, admin, guest } = await testService.workspace('admin', 'guest');
    for (const [{ userId }, role] of [
      [member, 'member'],
      [owner, 'owner'],
    ] as const)
      await testService.addMember(id, userId, role);
    const credentials = await setup.credentials(member.userId);
    const require = (who: TestPerson, requireSecondFactor: boolean) =>
      testService.call(who, workspaceSecurityApi.updateWorkspaceSecurity, {
        params: { workspaceId: id },
        body: { requireSecondFactor },
      });
    const read = async (who: TestPerson): Promise<unknown> => {
      const reply = await testService.call(who, workspaceSecurityApi.getWorkspaceSecurity, {
        params: { workspaceId: id },
      });
      return reply.status === 200 ? reply.body.security : reply.status;
    };
    for (const who of [admin, guest, member]) assert.equal((await require(who, true)).status, 403);
    const outsider = await testService.person();
    assert.deepEqual([(await require(outsider, true)).status, await read(outsider)], [404, 404]);
    const locked = await require(owner, true);
    assert.equal(locked.status, 409, 'an owner who has none would lock themselves out');
    assert.deepEqual(await read(guest), { requireSecondFactor: false });
    await addApp(other.browser);
    const published = await testService.backends.revocations();
    assert.equal((await require(owner, true)).status, 200);
    const expected: Revocation = { kind: 'credential', userId: member.userId };
    assert.deepEqual(await published.next(), expected, 'their sockets close, and no cache has their credentials');
    assert.deepEqual(await read(guest), { requireSecondFactor: true });
    assert.equal((await browser.get('/account')).to?.pathname, '/sign-in');
    assert.equal((await other.browser.get('/account')).status, 200);
    assert.deepEqual(await setup.resolved(credentials), [REFUSED, false]);
    assert.equal((await browser.submit('/sign-in', { ...account })).status, 303);
    assert.equal((await browser.get('/account')).to?.pathname, '/account/second-factor');
    await addPasskey(pages, browser, undefined, '/account/second-factor');
    assert.equal((await browser.get('/account')).status, 200);
    assert.deepEqual(await setup.resolved(credentials), [true, false]);
    assert.equal((await require(owner, true)).status, 200);
    const events = await setup.sql(`select user_id, details from auth.events where workspace_id = $1`, [id]);
    const event = { user_id: owner.userId, details: { rule: 'a second factor is required' } };
    assert.deepEqual(events, [event], 'a repeated request changed nothing');
    const ended = await setup.sql(
      `select kind, actor, network from auth.events where user_id = $1 and kind like '%-ended' order by kind`,
      [member.userId],
    );
    const by = { actor: 'system', network: null };
    assert.deepEqual(ended, [
      { kind: 'grant-ended', ...by },
      { kind: 'session-ended', ...by },
    ]);
  });

  it('keeps out who has none, also who was invited before [authentication.factors.workspace]', async () => {
    const { testService } = setup.pages;
    const { account } = await setup.pages.signedIn();
    const { userId } = await setup.personOf(account);
    const provider = await testService.person();
    const check = async (workspaceId: string, who: string): Promise<number> =>
      (await testService.call(SERVICE, credentialApi.internalCheckJoining, { body: { userId: who, workspaceId } }))
        .status;
    const [open, strict] = [randomUUID(), randomUUID()];
    await setup.sql(
      `insert into auth.workspace_policies (workspace_id, requires_second_factor, changed_by) values ($1, true, $2)`,
      [strict, userId],
    );
    assert.deepEqual([await check(open, userId), await check(strict, userId)], [200, 403]);
    assert.equal(await check(strict, provider.userId), 200);
  });
});
