import { readApiKey } from '@wts/access';
import { credentialApi, type Revocation } from '@wts/contracts';
import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { openTestPages, type TestPages } from './people.ts';
import { SERVICE } from './test-service.ts';
import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import { AUTH_LIMITS } from '../src/limits.ts';

const NEW_PASSWORD = 'another horse battery';

describe('the account page', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  const sql = (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(text, values);
  const userOf = async ({ email }: { email: string }): Promise<string> => {
    const [found] = await sql(`select user_id from auth.identities where email = $1`, [email]);
    return String(found?.['user_id']);
  };
  /** A grant as the token endpoint leaves it. */
  const connect = async (userId: string, name: string): Promise<string> => {
    const [clientId, id] = [randomUUID(), randomUUID()];
    await sql(
      `insert into auth.clients (id, name, redirect_uris, auth_method, grant_types) values ($1, $2, '{https://a.example}', 'none', '{authorization_code}')`,
      [clientId, name],
    );
    await sql(
      `insert into auth.grants (id, user_id, client_id, client_name, scopes, resources, signed_in_at, used_at, expires_at)
        values ($1, $2, $3, $4, '{read,write}', '{https://api.example}', now(), now(), now() + interval '1 day')`,
      [id, userId, clientId, name],
    );
    await sql(
      `insert into auth.codes (hash, grant_id, redirect_uri, challenge, expires_at) values ($1, $2, 'https://notes.example/cb', '', now())`,
      [randomBytes(32), id],
    );
    return id;
  };
  const changePassword = (browser: TestBrowser, current: string, password: string): Promise<Answer> =>
    browser.submit('/account/security', { current, password }, '/account/password');

  it('leads to the sign-in without a session', async () => {
    for (const path of ['/account', '/account/security', '/account/keys', '/account/apps', '/'])
      assert.equal((await pages.browser().get(path)).to?.href, `${pages.issuer}/sign-in`);
  });

  it('lists the apps of the person, and revokes one, which is published', async () => {
    const { browser, account } = await pages.signedIn();
    const other = await pages.signedIn();
    const userId = await userOf(account);
    const own = await connect(userId, '<b>Notes</b>');
    const foreign = await connect(await userOf(other.account), 'Foreign');
    const page = await browser.get('/account/apps');
    assert.match(page.text, /&lt;b&gt;Notes/);
    assert.match(page.text, /Answers go to <strong>notes\.example<\/strong>/);
    assert.ok(!page.text.includes('Foreign'));
    const published = await pages.testService.backends.revocations();
    assert.equal((await browser.post(`/account/apps/${foreign}/revoke`, hiddenOf(page))).status, 404);
    assert.equal((await browser.get(`/account/apps/${foreign}/revoke`)).status, 404);
    assert.match((await browser.get(`/account/apps/${own}/revoke`)).text, /Revoke the access of <bdi>&lt;b&gt;Notes/);
    assert.match((await browser.get('/account/apps')).text, /Notes/, 'the question alone revokes nothing');
    assert.equal((await browser.submit(`/account/apps/${own}/revoke`, {})).status, 303);
    const expected: Revocation = { kind: 'credential', credentialId: own, userId };
    assert.deepEqual(await published.next(), expected);
    assert.match((await browser.get('/account/apps?done=app')).text, /can no longer use your account/);
    assert.ok(!(await browser.get('/account/apps')).text.includes('Notes'));
  });

  it('shows at most 100 apps, and says how many it leaves out [never.unbounded]', async () => {
    const { browser, account } = await pages.signedIn();
    const oldest = await connect(await userOf(account), 'Oldest');
    await sql(`update auth.grants set created_at = now() - interval '1 day' where id = $1`, [oldest]);
    await sql(
      `insert into auth.grants (id, user_id, client_id, client_name, scopes, resources, signed_in_at, used_at, expires_at)
        select gen_random_uuid(), user_id, client_id, 'App', scopes, resources, now(), now(), expires_at
        from auth.grants, generate_series(1, 100) where id = $1`,
      [oldest],
    );
    const { text } = await browser.get('/account/apps');
    assert.equal(text.split('<bdi class="name">App</bdi').length - 1, 100);
    assert.ok(!text.includes('Oldest'));
    assert.match(text, /1 older one is not shown/);
  });

  it('creates an API key, shows its token once, and revokes it', async () => {
    const { browser } = await pages.signedIn();
    const answer = await browser.submit('/account/keys', { label: 'ci "1"' }, '/account/keys');
    assert.equal(answer.to?.href, `${pages.issuer}/account/keys`);
    const made = await browser.get('/account/keys');
    const token = /<code class="token">([^<]+)</.exec(made.text)?.[1] ?? '';
    const body = { tokenHash: readApiKey(token, 'wts_')?.hash ?? '' };
    const resolve = async (): Promise<unknown> =>
      (await pages.testService.call(SERVICE, credentialApi.internalResolveApiKey, { body })).body.principal;
    assert.notEqual(await resolve(), null);
    const page = await browser.get('/account/keys');
    assert.ok(page.text.includes('ci &quot;1&quot;') && !page.text.includes(token));
    const revoke = /href="(\/account\/keys\/[^"]+\/revoke)"/.exec(page.text)?.[1] ?? '';
    assert.match((await browser.get(revoke)).text, /Revoke the key <bdi>ci &quot;1&quot;</);
    assert.notEqual(await resolve(), null, 'the question alone revokes nothing');
    assert.equal((await browser.submit(revoke, {})).status, 303);
    assert.equal(await resolve(), null);
    for (const label of ['', '  ', 'x'.repeat(101)])
      assert.equal((await browser.submit('/account/keys', { label }, '/account/keys')).status, 422);
  });

  it('makes a key that can read, for 90 days, unless the person chooses other access, another end or one workspace', async () => {
    const { browser, account } = await pages.signedIn();
    const userId = await userOf(account);
    const { id: workspace } = await pages.testService.workspace();
    await pages.testService.addMember(workspace, userId, 'guest');
    const newest = async (): Promise<Record<string, unknown> | undefined> =>
      (
        await sql(
          `select permissions, workspace_id, round(extract(epoch from expires_at - now()) / 86400)::int as days
            from auth.api_keys where user_id = $1 order by created_at desc limit 1`,
          [userId],
        )
      )[0];
    const create = (fields: Record<string, string>): Promise<Answer> =>
      browser.submit('/account/keys', { label: 'ci', ...fields }, '/account/keys');
    await create({});
    assert.deepEqual(await newest(), { permissions: 'read-only', workspace_id: null, days: 90 });
    await create({ access: 'full-access', expires: 'never', workspace });
    assert.deepEqual(await newest(), { permissions: 'full-access', workspace_id: workspace, days: null });
    const { text } = await browser.get('/account/keys');
    assert.match(text, /Full access in <bdi>Platform<\/bdi> · .* ·\s+does not expire/);
    assert.match(text, /Read only · .* ·\s+expires </);
    assert.doesNotMatch(text, /A key has full access/);
    for (const bad of [{ access: 'root' }, { expires: '1' }, { workspace: 'x' }]) {
      const answer = await create(bad);
      assert.equal(answer.status, 422);
      assert.match(answer.text, /value="ci"[^>]* autofocus/);
    }
    assert.equal((await create({ workspace: randomUUID() })).status, 404);
    assert.equal((await sql(`select from auth.api_keys where user_id = $1`, [userId])).length, 2);
  });

  it('changes the password, which ends all other sessions and all grants [authentication.accounts.password-change]', async () => {
    const { browser, account } = await pages.signedIn();
    const elsewhere = (await pages.signedIn(account)).browser;
    const userId = await userOf(account);
    for (const name of ['Notes', 'Calendar']) await connect(userId, name);
    const published = await pages.testService.backends.revocations();
    // Publishes nothing.
    const other = await pages.signedIn();
    assert.equal((await changePassword(other.browser, other.account.password, NEW_PASSWORD)).status, 303);
    assert.equal(
      (await changePassword(browser, account.password, NEW_PASSWORD)).to?.href,
      `${pages.issuer}/account/security?done=password`,
    );
    const all: Revocation = { kind: 'credential', userId, credentialKind: 'oauth' };
    assert.deepEqual(await published.next(), all, 'one message, however many apps there are');
    assert.match((await browser.get('/account/apps')).text, /No app is connected/);
    assert.equal((await elsewhere.get('/account')).status, 303);
    assert.equal((await pages.browser().submit('/sign-in', { ...account })).status, 422);
    await pages.signedIn({ ...account, password: NEW_PASSWORD });
  });

  it('changes no password when the apps of the person cannot be ended with it [authentication.accounts.password-change]', async () => {
    const { browser, account } = await pages.signedIn();
    const userId = await userOf(account);
    await connect(userId, 'Notes');
    await sql(
      `create function auth.fail() returns trigger language plpgsql as
        $$ begin raise exception 'canceled' using errcode = '57014'; end $$`,
      [],
    );
    await sql(
      `create trigger fails before update on auth.grants for each row when (old.user_id = '${userId}') execute function auth.fail()`,
      [],
    );
    const { status } = await changePassword(browser, account.password, NEW_PASSWORD);
    await sql(`drop function auth.fail cascade`, []);
    assert.equal(status, 503);
    assert.match((await browser.get('/account/apps')).text, /Notes/);
    assert.equal((await changePassword(browser, account.password, NEW_PASSWORD)).status, 303);
    assert.match((await browser.get('/account/apps')).text, /No app is connected/);
  });

  it('changes no password without the current one, which cannot be guessed there, or to a bad one', async () => {
    const { browser, account } = await pages.signedIn();
    for (const bad of ['short', account.email, 'password123'])
      assert.equal((await changePassword(browser, account.password, bad)).status, 422, bad);
    for (let n = 0; n < AUTH_LIMITS.signInFailuresMax; n += 1) {
      const { text } = await changePassword(browser, 'wrong password', NEW_PASSWORD);
      assert.match(text, /current password is wrong/);
      assert.match(text, /<input\s+id="current"[^>]* autofocus/);
    }
    assert.match((await changePassword(browser, account.password, NEW_PASSWORD)).text, /Too many attempts/);
    assert.equal((await pages.browser().submit('/sign-in', { ...account })).status, 303);
  });

  it('refuses forms without the token of the session [authentication.pages.forged-forms]', async () => {
    const { browser, account } = await pages.signedIn();
    const key = randomUUID();
    const forms: [string, Record<string, string>][] = [
      ['/account/password', { current: account.password, password: NEW_PASSWORD }],
      ['/account/keys', { label: 'x' }],
      [`/account/keys/${key}/revoke`, {}],
      [`/account/apps/${key}/revoke`, {}],
      ['/sign-out', {}],
    ];
    for (const [path, fields] of forms) {
      for (const csrf of ['', randomBytes(32).toString('base64url')])
        assert.equal((await browser.post(path, { ...fields, csrf })).status, 403, path);
    }
    assert.equal((await browser.get('/account')).status, 200);
  });

  it('is open as long as the session: 14 days without use, and 30 days in any case [authentication.sessions.end]', async () => {
    const ages: [string, number][] = [
      [`last_used_at = now() - interval '13 days 23 hours'`, 200],
      [`last_used_at = now() - interval '14 days 1 second'`, 303],
      [`created_at = now() - interval '29 days 23 hours'`, 200],
      [`created_at = now() - interval '30 days 1 second'`, 303],
    ];
    for (const [change, expected] of ages) {
      const { browser, account } = await pages.signedIn();
      await sql(`update auth.sessions set ${change} where account_id = $1`, [account.id]);
      assert.equal((await browser.get('/account')).status, expected, change);
      if (expected === 200) {
        const [session] = await sql(
          `select last_used_at > now() - interval '1 minute' as used from auth.sessions where account_id = $1`,
          [account.id],
        );
        assert.ok(change.startsWith('created') || session?.['used'], 'a read counts as a use');
      }
    }
  });

  it('stores neither the secret of a session nor a password [never.secret-in-clear]', async () => {
    const { browser, account } = await pages.signedIn();
    const secrets = [...browser.cookies.values(), account.password];
    for (const table of ['accounts', 'sessions', 'sign_in_places', 'sign_in_failures', 'pending_requests']) {
      const stored = JSON.stringify(await sql(`select t::text from auth.${table} t`, []));
      for (const secret of secrets) assert.ok(!stored.includes(secret), `${table} has a secret`);
    }
    const [row] = await sql(`select password_hash from auth.accounts where id = $1`, [account.id]);
    assert.match(String(row?.['password_hash']), /^\$scrypt\$ln=10,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
  });
});

describe('accounts that are closed', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages({ ACCOUNTS: 'off' })));
  after(() => pages.testService.service.close());

  it('have no sign-in by password, no registration and no change of a password [authentication.accounts.off]', async () => {
    const account = await pages.account();
    const browser = pages.browser();
    const page = await browser.get('/sign-in');
    assert.ok(!page.text.includes('type="password"'));
    // The token that the form of an open service would have.
    const id = browser.cookies.get('__Host-wts_browser') ?? '';
    const csrf = createHmac('sha256', id).update('form of a browser').digest('base64url');
    for (const path of ['/sign-in', '/join']) {
      const answer = await browser.post(path, { ...account, csrf, code: 'x' });
      assert.ok([403, 503].includes(answer.status), `${path} ${answer.status}`);
      assert.equal(answer.setCookies.length, 0);
    }
  });

  it('end the sessions that began with a password [authentication.accounts.off]', async () => {
    const open = await openTestPages();
    const { browser } = await open.signedIn();
    assert.equal((await browser.get('/account')).status, 200);
    await open.testService.service.close();
    const later = pages.browser();
    for (const cookie of browser.cookies) later.cookies.set(...cookie);
    assert.equal((await later.get('/account')).to?.href, `${pages.issuer}/sign-in`);
  });
});
