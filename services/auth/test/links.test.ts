import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import type { Revocation } from '@wts/contracts';
import type { Knex } from 'knex';
import assert from 'node:assert/strict';
import { makeResetLink } from '../src/links/make-link.ts';
import { AUTH_LIMITS } from '../src/limits.ts';
import { mailLinkStore } from '../src/store/mail-links.ts';
import { openTestPages, type TestAccount, type TestPages } from './people.ts';

const NEW_PASSWORD = 'another horse battery';

describe('a link to choose a new password', () => {
  const stack = new AsyncDisposableStack();
  let pages: TestPages;
  let knex: Knex;
  before(async () => {
    pages = await openTestPages();
    stack.defer(() => pages.testService.service.close());
    const log = createLogger({ name: 'test', level: 'warn' });
    const url = pages.testService.backends.databaseUrl;
    ({ knex } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack }));
  });
  after(() => stack.disposeAsync());

  const sql = (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(text, values);
  /** The path of a new link. */
  const linkFor = async (account: TestAccount, by: 'mailed' | 'given' = 'mailed'): Promise<string> => {
    const { url } = await makeResetLink({ links: mailLinkStore(knex), issuer: pages.issuer }, account, by);
    return url.slice(pages.issuer.length);
  };
  const choose = (browser: TestBrowser, link: string, password = NEW_PASSWORD): Promise<Answer> =>
    browser.submit(link, { password }, '/link');
  const canSignIn = async (account: TestAccount, password: string, browser = pages.browser()): Promise<boolean> =>
    (await browser.submit('/sign-in', { email: account.email, password })).status === 303;

  it('ends all sessions and apps, and verifies an address it was mailed to [authentication.accounts.password-reset]', async () => {
    for (const by of ['mailed', 'given'] as const) {
      const { browser: old, account } = await pages.signedIn();
      const link = await linkFor(account, by);
      const published = await pages.testService.backends.revocations();
      const answer = await choose(pages.browser(), link);
      assert.match(answer.text, /Your password is changed/);
      assert.equal((await old.get('/account')).status, 303, 'the session ended');
      const [{ user_id: userId } = {}] = await sql(`select user_id from auth.identities where subject = $1`, [
        account.id,
      ]);
      // Of any kind, because keys end too where the link is the first proof of the address.
      const all: Revocation = { kind: 'credential', userId: String(userId) };
      assert.deepEqual(await published.next(), all);
      const [row] = await sql(`select email_verified from auth.accounts where id = $1`, [account.id]);
      assert.equal(row?.['email_verified'], by === 'mailed');
      assert.ok(!(await canSignIn(account, account.password)));
      assert.ok(await canSignIn(account, NEW_PASSWORD));
    }
  });

  it('changes nothing when it is opened, also by many programs, and then works once [authentication.mail.links]', async () => {
    const account = await pages.account();
    const link = await linkFor(account);
    for (let n = 0; n < 3; n += 1) assert.match((await pages.browser().get(link)).text, /Choose a new password/);
    const browsers = Array.from({ length: 4 }, () => pages.browser());
    const forms = await Promise.all(browsers.map(async (browser) => hiddenOf(await browser.get(link), '/link')));
    const answers = await Promise.all(
      browsers.map((browser, n) => browser.post('/link', { ...forms[n], password: `${NEW_PASSWORD} ${n}` })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 410, 410, 410],
    );
    assert.ok(await canSignIn(account, `${NEW_PASSWORD} ${answers.findIndex(({ status }) => status === 200)}`));
    const again = await pages.browser().get(link);
    assert.equal(again.status, 410);
    assert.match(again.text, /This link was used already/);
  });

  it('says whether it is replaced, expired or unknown, and works until then [authentication.mail.links]', async () => {
    const account = await pages.account();
    const first = await linkFor(account);
    const second = await linkFor(account);
    const page = await pages.browser().get(first);
    assert.deepEqual([page.status, /There is a newer link/.test(page.text)], [410, true]);
    const age = (seconds: number): Promise<unknown> =>
      sql(
        `update auth.mail_links set expires_at = now() + interval '30 minutes' - make_interval(secs => $2)
        where account_id = $1`,
        [account.id, seconds],
      );
    await age(AUTH_LIMITS.resetLinkMs / 1000 - 60);
    assert.equal((await pages.browser().get(second)).status, 200);
    await age(AUTH_LIMITS.resetLinkMs / 1000 + 60);
    const late = await pages.browser().get(second);
    assert.deepEqual([late.status, /This link has expired/.test(late.text)], [410, true]);
    const unknown = await pages.browser().get('/link?token=wtsm_0');
    assert.deepEqual([unknown.status, /This link is not valid/.test(unknown.text)], [404, true]);
  });

  it('is not used up by a password that is refused, nor by a form of another site [authentication.pages.forged-forms]', async () => {
    const account = await pages.account();
    const link = await linkFor(account);
    const browser = pages.browser();
    for (const bad of ['short', account.email, 'password123'])
      assert.equal((await choose(browser, link, bad)).status, 422, bad);
    const token = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
    assert.equal((await browser.post('/link', { token, password: NEW_PASSWORD })).status, 403);
    assert.equal((await choose(browser, link)).status, 200);
  });

  it('lets its person sign in at once in a browser whose attempts were used up', async () => {
    const { browser, account } = await pages.signedIn();
    for (let n = 0; n < AUTH_LIMITS.signInFailuresMax; n += 1) await canSignIn(account, 'wrong password', browser);
    const refused = await browser.submit('/sign-in', { ...account });
    assert.equal(refused.status, 429);
    await choose(browser, await linkFor(account));
    assert.ok(await canSignIn(account, NEW_PASSWORD, browser));
  });

  it('is stored as its hash [never.secret-in-clear]', async () => {
    const account = await pages.account();
    const token = new URLSearchParams((await linkFor(account)).split('?')[1]).get('token') ?? '';
    const stored = await sql(`select l::text from auth.mail_links l where account_id = $1`, [account.id]);
    assert.ok(token.length > 64 && stored.length === 1 && !JSON.stringify(stored).includes(token));
  });
});
