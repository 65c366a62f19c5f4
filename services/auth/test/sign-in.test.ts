import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { checkPassword } from '../src/commands/sign-in-by-password.ts';
import { NO_VISITOR } from '../src/domain/security-event.ts';
import { derive, PasswordHashes } from '../src/accounts/password-hashes.ts';
import { accountStore } from '../src/store/accounts.ts';
import { identityStore } from '../src/store/identities.ts';
import { signInAttemptStore } from '../src/store/sign-in-attempts.ts';
import { openTestRecord } from './store.ts';
import { openTestPages, type TestAccount, type TestPages } from './people.ts';
import { TEST_COST_LOG2 } from './test-service.ts';
import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import { AUTH_LIMITS } from '../src/limits.ts';

const visitor = NO_VISITOR;

/** What a check of a password uses, besides the hashes. */
function checksOf(knex: Knex): Omit<Parameters<typeof checkPassword>[0], 'passwords'> {
  const identities = identityStore(knex);
  return { accounts: accountStore(knex), attempts: signInAttemptStore(knex), identities, record: openTestRecord(knex) };
}

/** Failures from all networks that are only added up, of AUTH_LIMITS.signInFailuresOfAccountMax. */
const SKIPPED = 85;

describe('the sign-in by password', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  const attempt = (browser: TestBrowser, { email }: { email: string }, password: string): Promise<Answer> =>
    browser.submit('/sign-in', { email, password });
  const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).status === 200;
  /** Sends wrong passwords by one form. Resolves to the status of each answer. */
  const guesser = async (from: string | TestBrowser): Promise<(email: string) => Promise<number>> => {
    const browser = typeof from === 'string' ? pages.browser(from) : from;
    const fields = { ...hiddenOf(await browser.get('/sign-in')), password: 'wrong password' };
    return async (email) => (await browser.post('/sign-in', { ...fields, email })).status;
  };
  const failOften = async (browser: TestBrowser, { email }: { email: string }, times: number): Promise<void> => {
    const guessing = await guesser(browser);
    for (let n = 0; n < times; n += 1) assert.equal(await guessing(email), 422);
  };

  it('leads to the account, with the address in any case', async () => {
    const account = await pages.account();
    const browser = pages.browser();
    const answer = await attempt(browser, { email: ` ${account.email.toUpperCase()} ` }, account.password);
    assert.equal(answer.status, 303);
    assert.equal(answer.to?.href, `${pages.issuer}/account`);
    assert.match((await browser.open('/')).text, /Ada Lovelace/);
  });

  it('of a wrong password and of an unknown address have the same answer [authentication.accounts.equal-work]', async () => {
    const account = await pages.account();
    const wrong = await attempt(pages.browser(), account, 'wrong password');
    const unknown = await attempt(pages.browser(), { email: account.email.replace('@', '.@') }, account.password);
    const plain = ({ text }: Answer): string => text.replaceAll(/(?:value|data-options)="[^"]*"/g, '');
    assert.deepEqual([wrong.status, plain(wrong)], [unknown.status, plain(unknown)]);
    assert.match(wrong.text, /do not match an account/);
  });

  it('is throttled for an account in a network, with the same answers for an unknown address [authentication.accounts.throttled]', async () => {
    const account = await pages.account();
    for (const who of [{ email: `${randomUUID()}@example.com` }, account]) {
      const network = `attacker ${randomUUID()}`;
      await failOften(pages.browser(network), who, AUTH_LIMITS.signInFailuresMax);
      const refused = await attempt(pages.browser(network), who, account.password);
      assert.equal(refused.status, 429);
      assert.match(refused.text, /Too many attempts failed/);
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
    }
    assert.equal((await attempt(pages.browser(), account, account.password)).status, 303, 'a new browser elsewhere');
  });

  it('is throttled for an account from all networks after more failures, but not where its owner signed in before [authentication.accounts.throttled]', async () => {
    await using stack = new AsyncDisposableStack();
    const log = createLogger({ name: 'test', level: 'warn' });
    const url = pages.testService.backends.databaseUrl;
    const { knex } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack });
    // There are many hashes. The first right password renews the one of the account with this cost.
    const passwords = new PasswordHashes(4);
    const context = { ...checksOf(knex), passwords };
    const { signal } = new AbortController();
    const from = (email: string, password: string, at: { browserId?: string; network?: string } = {}) =>
      checkPassword(context, {
        browserId: randomUUID(),
        network: randomUUID(),
        visitor,
        ...at,
        email,
        password,
        signal,
      });
    const account = await pages.account();
    const own = { browserId: randomUUID() };
    assert.equal((await from(account.email, account.password, own)).outcome, 'right');
    for (const email of [account.email, `${randomUUID()}@example.com`]) {
      await knex.raw('delete from auth.sign_in_failures');
      const at = { network: randomUUID() };
      for (let n = 0; n < AUTH_LIMITS.signInFailuresMax; n += 1)
        assert.equal((await from(email, 'wrong password', at)).outcome, 'wrong');
      // The counters of the account and of its one network have all failures; those of other networks do not matter here.
      await knex.raw('update auth.sign_in_failures set failures = failures + ?', [SKIPPED]);
      for (let n = AUTH_LIMITS.signInFailuresMax + SKIPPED; n < AUTH_LIMITS.signInFailuresOfAccountMax; n += 1)
        assert.equal((await from(email, 'wrong password')).outcome, 'wrong');
      assert.equal((await from(email, account.password)).outcome, 'throttled', 'a new browser in a new network');
    }
    assert.equal((await from(account.email, account.password, own)).outcome, 'right', 'the browser of the owner');
  });

  it('is throttled for a network over all accounts, and a right password does not count [authentication.accounts.throttled]', async () => {
    const network = `192.0.2.${Math.ceil(Math.random() * 200)}/32 ${randomUUID()}`;
    const { account } = await pages.signedIn();
    const guessing = await guesser(network);
    for (let n = 0; n < AUTH_LIMITS.signInFailuresOfNetworkMax; n += 1) {
      assert.equal(await guessing(`${randomUUID()}@example.com`), 422);
      if (n === 3)
        assert.equal((await attempt(pages.browser(network), await pages.account(), account.password)).status, 303);
    }
    assert.equal((await attempt(pages.browser(network), await pages.account(), account.password)).status, 429);
    assert.equal((await attempt(pages.browser(), account, account.password)).status, 303, 'another network');
  });

  it('in one network has a limit for all addresses, and then is refused alike for people who signed in there and for any others, but not in their browsers [authentication.accounts.throttled, authentication.accounts.equal-work]', async () => {
    const network = `office ${randomUUID()}`;
    const colleagues = await Promise.all(Array.from({ length: 6 }, () => pages.account()));
    const own = colleagues.map(() => pages.browser(network));
    for (const [n, one] of colleagues.entries()) await attempt(own[n] as TestBrowser, one, one.password);
    const answers: number[] = [];
    const guessing = await guesser(network);
    for (let round = 0; round < 6; round += 1) for (const { email } of colleagues) answers.push(await guessing(email));
    assert.equal(answers.filter((status) => status === 422).length, AUTH_LIMITS.signInFailuresOfNetworkMax);
    const [ada] = colleagues as [TestAccount];
    for (const who of [ada, await pages.account(), { email: `${randomUUID()}@example.com` }])
      assert.equal((await attempt(pages.browser(network), who, 'wrong password')).status, 429);
    assert.equal((await attempt(own[0] as TestBrowser, ada, ada.password)).status, 303);
  });

  it('works for the owner in a browser of an earlier sign-in, and in a network of one while no one fails there, while an attacker is throttled [authentication.accounts.throttled]', async () => {
    const network = `known ${randomUUID()}`;
    const account: TestAccount = await pages.account();
    const own = pages.browser(network);
    assert.equal((await attempt(own, account, account.password)).status, 303);
    const attacker = pages.browser();
    await failOften(attacker, account, AUTH_LIMITS.signInFailuresMax);
    assert.equal((await attempt(attacker, account, account.password)).status, 429, 'an unknown place');
    assert.equal((await attempt(own, account, account.password)).status, 303, 'the browser');
    assert.equal((await attempt(pages.browser(network), account, account.password)).status, 303, 'the network');
    await failOften(pages.browser(network), account, AUTH_LIMITS.signInFailuresMax);
    assert.equal(
      (await attempt(pages.browser(network), account, account.password)).status,
      429,
      'an attacker in that network',
    );
    assert.equal((await attempt(own, account, account.password)).status, 303, 'still the browser');
  });

  it('works for the owner in a known browser while attempts from many networks fill the queue of hashes [authentication.accounts.throttled]', async () => {
    await using stack = new AsyncDisposableStack();
    const log = createLogger({ name: 'test', level: 'warn' });
    const url = pages.testService.backends.databaseUrl;
    const { knex } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack });
    const held = Promise.withResolvers<Buffer>();
    const passwords = new PasswordHashes(TEST_COST_LOG2, (password, ...more) =>
      password === 'flood' ? held.promise : derive(password, ...more),
    );
    const account = await pages.account();
    const from = (network: string): ReturnType<typeof checkPassword> =>
      checkPassword(
        { ...checksOf(knex), passwords },
        { ...account, browserId: 'known', network, visitor, signal: AbortSignal.timeout(30_000) },
      );
    assert.equal((await from(randomUUID())).outcome, 'right');
    const many = AUTH_LIMITS.passwordHashesAtOnceMax + AUTH_LIMITS.passwordHashesWaitingMax;
    const flood = Array.from({ length: many }, (_, n) =>
      passwords
        .verify('flood', null, { network: `flood ${n}`, signal: AbortSignal.timeout(30_000) })
        .catch(() => false),
    );
    assert.equal((await from(randomUUID())).outcome, 'right');
    held.resolve(Buffer.alloc(32));
    await Promise.all(flood);
  });

  it('counts attempts in parallel [authentication.accounts.throttled]', async () => {
    const account = await pages.account();
    const network = `parallel ${randomUUID()}`;
    const answers = await Promise.all(
      Array.from({ length: AUTH_LIMITS.signInFailuresMax + 5 }, () =>
        attempt(pages.browser(network), account, 'wrong password'),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 429).length, 5);
  });

  it('gives a new secret to the session, and ends the session before it [authentication.sessions.end]', async () => {
    const { browser, account } = await pages.signedIn();
    const earlier = new Map(browser.cookies);
    const fixed = pages.browser();
    fixed.cookies.set('__Host-wts_session', 'x'.repeat(43));
    await attempt(fixed, account, account.password);
    assert.notEqual(fixed.cookies.get('__Host-wts_session'), 'x'.repeat(43));
    await attempt(browser, account, account.password);
    assert.notEqual(browser.cookies.get('__Host-wts_session'), earlier.get('__Host-wts_session'));
    const old = pages.browser();
    for (const [name, value] of earlier) old.cookies.set(name, value);
    assert.equal(await isSignedIn(old), false);
    assert.equal(await isSignedIn(browser), true);
  });

  it('sets cookies that scripts, other sites and other hosts cannot use', async () => {
    const account = await pages.account();
    const browser = pages.browser();
    const first = await browser.get('/sign-in');
    const answer = await browser.post('/sign-in', { ...hiddenOf(first), ...account });
    for (const line of [...first.setCookies, ...answer.setCookies]) {
      assert.match(
        line,
        /^__Host-wts_(?:browser|session)=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
      );
    }
    assert.equal(first.setCookies.length + answer.setCookies.length, 2);
  });

  it('reads no cookie whose name another host of the site could set, such as one with a space that looks like none', async () => {
    const { browser } = await pages.signedIn();
    const secret = browser.cookies.get('__Host-wts_session') ?? '';
    for (const name of [
      '\u00A0__Host-wts_session',
      '__Host-wts_session\u00A0',
      '\t__Host-wts_session',
      'wts_session',
    ]) {
      const planted = pages.browser();
      // HTTP removes a space before the first one.
      planted.cookies.set('other', 'x').set(name, secret);
      assert.equal(await isSignedIn(planted), false, JSON.stringify(name));
      const both = pages.browser();
      for (const cookie of browser.cookies) both.cookies.set(...cookie);
      both.cookies.set(name, 'x'.repeat(43));
      assert.equal(await isSignedIn(both), true, `beside ${JSON.stringify(name)}`);
    }
  });

  it('ends with the sign-out, for the stolen cookie too [authentication.sessions.end]', async () => {
    const { browser } = await pages.signedIn();
    const stolen = pages.browser();
    for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
    const answer = await browser.submit('/account', {}, '/sign-out');
    assert.equal(answer.to?.href, `${pages.issuer}/signed-out`);
    assert.equal((await browser.get('/signed-out')).status, 200);
    assert.equal(await isSignedIn(browser), false);
    assert.equal(await isSignedIn(stolen), false);
  });

  it('refuses forms without the token of the browser, or from another site [authentication.pages.forged-forms]', async () => {
    const account = await pages.account();
    const browser = pages.browser();
    const fields = hiddenOf(await browser.get('/sign-in'));
    const other = hiddenOf(await pages.browser().get('/sign-in'));
    const cases: [Record<string, string>, Record<string, string>?][] = [
      [{ ...account }],
      [{ ...account, csrf: '' }],
      [{ ...account, ...other }],
      [{ ...account, ...fields }, { origin: 'https://evil.example' }],
      [{ ...account, ...fields }, { origin: 'http://auth.example' }],
      [{ ...account, ...fields }, { 'sec-fetch-site': 'cross-site' }],
      [{ ...account, ...fields }, { 'sec-fetch-site': 'same-site' }],
    ];
    for (const [form, headers] of cases) {
      const answer = await browser.post('/sign-in', form, headers);
      assert.equal(answer.status, 403, JSON.stringify([form, headers]));
      assert.match(answer.text, /Go back, reload the page/);
    }
    assert.equal((await browser.post('/sign-in', { ...account, ...fields }, { origin: pages.issuer })).status, 303);
  });
});
