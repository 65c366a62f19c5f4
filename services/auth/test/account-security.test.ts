import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { hiddenOf, type TestBrowser } from '@wts/testkit';
import { openTestPages, type TestAccount, type TestPages } from './people.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const PAGE = '/account/security';

describe('the security of an account', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  const sql = (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(text, values);
  const signIn = async ({ email, password }: TestAccount, network: string, agent?: string): Promise<TestBrowser> => {
    const browser = pages.browser(network, agent === undefined ? {} : { 'user-agent': agent });
    assert.equal((await browser.submit('/sign-in', { email, password })).status, 303);
    return browser;
  };
  const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).status === 200;

  it('lists the sessions with browser, network and last use, and ends one or all others [authentication.sessions.list]', async () => {
    const account = await pages.account();
    const own = await signIn(account, '192.0.2.7', FIREFOX);
    const [lost, third] = [await signIn(account, '198.51.100.9', FIREFOX), await signIn(account, '203.0.113.4')];
    const stranger = (await pages.signedIn()).browser;
    const page = await own.get(PAGE);
    assert.match(page.text, /This browser<\/strong> · 192\.0\.2\.7/);
    const [foreign] = await sql(
      `select s.id from auth.sessions s where s.account_id <> $1 order by created_at desc limit 1`,
      [account.id],
    );
    const [found] = await sql(`select id from auth.sessions where account_id = $1 and network = '198.51.100.9'`, [
      account.id,
    ]);
    const path = `/account/sessions/${String(found?.['id'])}/end`;
    assert.equal((await own.post(`/account/sessions/${String(foreign?.['id'])}/end`, hiddenOf(page))).status, 404);
    assert.equal((await own.post(path, {})).status, 403, 'without the token of the form');
    assert.deepEqual([await isSignedIn(lost), await isSignedIn(stranger)], [true, true]);
    assert.equal((await own.submit(PAGE, {}, path)).to?.href, `${pages.issuer}${PAGE}?done=session`);
    assert.deepEqual([await isSignedIn(lost), await isSignedIn(third)], [false, true]);
    assert.equal((await own.post(path, hiddenOf(page))).status, 404, 'it has ended already');
    await own.submit(PAGE, {}, '/account/sessions/end-others');
    assert.deepEqual([await isSignedIn(own), await isSignedIn(third), await isSignedIn(stranger)], [true, false, true]);
    const { text } = await own.get(PAGE);
    assert.equal(text.split('Ended the session in').length - 1, 2);
    assert.ok(!text.includes('Sign out everywhere else'), 'there is no other');
  });

  it('shows the network in which a session is used now [authentication.sessions.list]', async () => {
    const account = await pages.account();
    const browser = await signIn(account, '192.0.2.7');
    const elsewhere = pages.browser('198.51.100.77');
    for (const cookie of browser.cookies) elsewhere.cookies.set(...cookie);
    await elsewhere.get(PAGE);
    assert.match((await elsewhere.get(PAGE)).text, /This browser<\/strong> · 198\.51\.100\.77/);
  });

  it('shows what happened a page at a time, and of no other person [authentication.record.history]', async () => {
    const { browser, account } = await pages.signedIn();
    const [person] = await sql(`select user_id from auth.identities where subject = $1`, [account.id]);
    const userId = String(person?.['user_id']);
    const insert = `insert into auth.events (id, kind, user_id, actor, actor_id, at, details)
      select gen_random_uuid(), 'key-created', $1::uuid, 'person', $1::text, now() - n * interval '1 minute', jsonb_build_object('label', $2::text || n)
      from generate_series(1, 25) n`;
    await sql(insert, [userId, '<b>key ']);
    await sql(insert, [randomUUID(), 'foreign ']);
    const first = await browser.get(PAGE);
    assert.match(first.text, /Created the API key “<bdi>&lt;b&gt;key 1<\/bdi>/);
    assert.match(first.text, /Signed in <bdi>with a password<\/bdi>/);
    assert.ok(!first.text.includes('foreign') && !first.text.includes('key 10'));
    const older = /href="([^"]+\?before=[^"#]+)#history"/.exec(first.text)?.[1] ?? '';
    const second = await browser.get(older);
    assert.match(second.text, /key 10<.*key 19</s);
    assert.ok(!second.text.includes('key 9<') && !second.text.includes('foreign'));
    assert.equal((await browser.get(`${PAGE}?before=x`)).status, 200);
    assert.match((await browser.get(`${PAGE}?before=${randomUUID()}`)).text, /There is nothing older/);
  });

  it('changes the name of the person everywhere, by a commit of theirs [authentication.account.name]', async () => {
    const { browser, account } = await pages.signedIn();
    const named = async (): Promise<unknown> => (await pages.testService.recordOfAccount(account))?.['name'];
    const answer = await browser.submit('/account', { name: '  Grace <i>\u202e Hopper ' }, '/account/name');
    assert.equal(answer.to?.href, `${pages.issuer}/account?done=name`);
    assert.equal(await named(), 'Grace <i> Hopper');
    assert.match((await browser.get('/account')).text, /<h1><bdi>Grace &lt;i&gt; Hopper<\/bdi>/);
    for (const name of ['', ' \u200b '])
      assert.equal((await browser.submit('/account', { name }, '/account/name')).status, 422);
    assert.equal((await browser.post('/account/name', { name: 'Mallory' })).status, 403);
    assert.equal(await named(), 'Grace <i> Hopper');
  });
});
