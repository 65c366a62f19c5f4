import { connectTo, eventually, hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { totpCode } from '../src/domain/totp.ts';
import { AUTH_LIMITS } from '../src/limits.ts';
import {
  addApp,
  addPasskey,
  freshCode,
  optionsOf,
  present,
  recoveryCodesOf,
  secondStep,
  stepNow,
  type TestApp,
} from './factors.ts';
import { openTestPages, type TestAccount, type TestPages } from './people.ts';

describe('the second factor', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  const sql = (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(text, values);
  const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).status === 200;
  const withApp = async (): Promise<{ account: TestAccount; browser: TestBrowser; app: TestApp }> => {
    const { account, browser } = await pages.signedIn();
    return { account, browser, app: await addApp(browser) };
  };
  const kindsOf = async ({ id }: TestAccount): Promise<unknown[]> =>
    (await sql(`select kind from auth.events where account_id = $1 order by at`, [id])).map(({ kind }) => kind);

  it('is asked for after a right password, and only then a session begins [authentication.factors.second-step]', async () => {
    const { account, app } = await withApp();
    const browser = pages.browser();
    const page = await secondStep(browser, account);
    assert.match(page.text, /Code of your authenticator app/);
    assert.equal(browser.cookies.has('__Host-wts_session'), false);
    for (const path of ['/account', '/account/totp', '/join?code=x', '/consent?request=x'])
      assert.notEqual((await browser.get(path)).status, 200, path);
    const wrong = await present(browser, page, { code: '000000' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /This code is wrong/);
    assert.equal(await isSignedIn(browser), false);
    const right = await present(browser, page, { code: await freshCode(pages, account, app) });
    assert.equal(right.to?.href, `${pages.issuer}/account`);
    assert.equal(await isSignedIn(browser), true);
    const [session] = await sql(`select method from auth.sessions where account_id = $1 order by created_at desc`, [
      account.id,
    ]);
    assert.equal(session?.['method'], 'password and code');
    assert.deepEqual((await kindsOf(account)).slice(-2), ['factor-failed', 'sign-in']);
  });

  it('belongs to the browser and the session of before: a link to the second step helps no other browser, and a new session replaces the old one [authentication.factors.second-step]', async () => {
    const { account, app } = await withApp();
    const attacker = pages.browser();
    const page = await secondStep(attacker, account);
    const victim = (await pages.signedIn()).browser;
    const { step = '' } = hiddenOf(page, '/sign-in/factor');
    assert.equal((await victim.get(`/sign-in/factor?step=${step}`)).status, 400);
    const own = hiddenOf(await victim.get('/sign-in'));
    const code = await freshCode(pages, account, app);
    assert.equal((await victim.post('/sign-in/factor', { csrf: own['csrf'] ?? '', step, code })).status, 400);
    // The code was not used up by an attempt that could not succeed.
    const browser = (await pages.signedIn()).browser;
    const before = new Map(browser.cookies);
    const answer = await present(browser, await secondStep(browser, account), { code });
    assert.equal(answer.status, 303);
    const old = pages.browser();
    for (const cookie of before) old.cookies.set(...cookie);
    assert.equal(await isSignedIn(old), false);
  });

  it('ends with the change of the password, and after its first right answer [authentication.factors.second-step]', async () => {
    const { account, app } = await withApp();
    const browser = pages.browser();
    const page = await secondStep(browser, account);
    const code = await freshCode(pages, account, app);
    await sql(`update auth.accounts set password_hash = password_hash || '' where id = $1`, [account.id]);
    assert.equal((await present(browser, page, { code })).status, 303);
    assert.equal((await present(browser, page, { code: await freshCode(pages, account, app) })).status, 400);
    const other = pages.browser();
    const later = await secondStep(other, account);
    await sql(`update auth.accounts set password_hash = replace(password_hash, 'ln=10', 'ln=11') where id = $1`, [
      account.id,
    ]);
    const answer = await present(other, later, { code: await freshCode(pages, account, app) });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /This sign-in has ended/);
  });

  it('accepts each code once, also in parallel on two replicas, and no older one after it [authentication.factors.once]', async () => {
    const { account, app } = await withApp();
    const replica = await pages.testService.replica({ AUTH_URL: pages.issuer });
    try {
      const browsers = Array.from({ length: 6 }, () => pages.browser());
      const steps = await Promise.all(browsers.map((browser) => secondStep(browser, account)));
      const code = await freshCode(pages, account, app);
      const send = (browser: TestBrowser, page: Answer, at: number): Promise<number> =>
        at % 2 === 0
          ? present(browser, page, { code }).then(({ status }) => status)
          : fetch(`${replica.service.url}/sign-in/factor`, {
              method: 'POST',
              redirect: 'manual',
              headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
              body: new URLSearchParams({ ...hiddenOf(page, '/sign-in/factor'), code }),
            }).then(({ status }) => status);
      const statuses = await Promise.all(browsers.map((browser, at) => send(browser, steps[at] as Answer, at)));
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [303, 422, 422, 422, 422, 422],
      );
      const earlier = totpCode(app.secret, stepNow() - 1);
      const browser = pages.browser();
      assert.equal((await present(browser, await secondStep(browser, account), { code: earlier })).status, 422);
    } finally {
      await replica.service.close();
    }
  });

  it('refuses codes after ten wrong ones, and after thirty in a day, but neither in a browser in which the owner used a factor nor a recovery code [authentication.factors.throttled]', async () => {
    const { account, app } = await withApp();
    const own = pages.browser();
    const code = await freshCode(pages, account, app);
    assert.equal((await present(own, await secondStep(own, account), { code })).status, 303);
    // Half sign-ins drop no place of the owner.
    for (let n = 0; n < AUTH_LIMITS.signInPlacesMax / 2; n += 1) await secondStep(pages.browser(), account);
    const attacker = pages.browser();
    const page = await secondStep(attacker, account);
    const guess = async (browser: TestBrowser, given: string): Promise<Answer> =>
      present(browser, await secondStep(browser, account), { code: given });
    const fail = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) assert.equal((await present(attacker, page, { code: '000000' })).status, 422);
    };
    await fail(AUTH_LIMITS.codeFailuresMax);
    const refused = await guess(pages.browser(), await freshCode(pages, account, app));
    assert.equal(refused.status, 429);
    assert.match(refused.text, /A passkey or a recovery code works now/);
    assert.equal((await guess(own, await freshCode(pages, account, app))).status, 303, 'the browser of the owner');
    // The short window ends, that of the day goes on.
    const endShort = `update auth.sign_in_failures set ends_at = now() where ends_at < now() + interval '1 hour'`;
    for (let rounds = 1; rounds < 3; rounds += 1) {
      await sql(endShort, []);
      await fail(AUTH_LIMITS.codeFailuresMax);
    }
    await sql(endShort, []);
    const ofDay = await guess(pages.browser(), await freshCode(pages, account, app));
    assert.equal(ofDay.status, 429);
    assert.match(ofDay.text, /Try again in 24 hours/);
    const [recovery = ''] = recoveryCodesOf(app.answer);
    const other = pages.browser();
    assert.equal((await present(other, await secondStep(other, account), { recovery })).status, 303);
  });

  it('has ten recovery codes, shown once, of which each opens the account once, and new ones end the old ones [authentication.factors.recovery]', async () => {
    const { account, browser, app } = await withApp();
    const codes = recoveryCodesOf(app.answer);
    assert.equal(codes.length, 10);
    assert.ok(!(await browser.get('/account/security')).text.includes(codes[0] ?? ''));
    const stored = JSON.stringify(
      await sql(`select t::text from auth.recovery_codes t where account_id = $1`, [account.id]),
    );
    for (const code of codes) assert.ok(!stored.includes(code.replaceAll('-', '')));
    const [first = '', second = ''] = codes;
    const statusOf = async (recovery: string): Promise<number> => {
      const other = pages.browser();
      return (await present(other, await secondStep(other, account), { recovery })).status;
    };
    assert.equal(await statusOf(first.toUpperCase().replaceAll('-', ' ')), 303);
    assert.equal(await statusOf(first), 422);
    assert.match((await browser.get('/account/security')).text, /9 recovery codes are left/);
    const renewed = await browser.submit('/account/security', {}, '/account/recovery-codes');
    const [next = '', third = ''] = recoveryCodesOf(renewed);
    assert.equal(await statusOf(second), 422);
    assert.equal(await statusOf(next), 303);
    const swapped = pages.browser();
    assert.equal((await present(swapped, await secondStep(swapped, account), { code: ` ${third} ` })).status, 303);
    const code = await freshCode(pages, account, app);
    assert.equal(await statusOf(`${code.slice(0, 3)} ${code.slice(3)}`), 303, 'each field takes the code of the other');
    assert.ok((await kindsOf(account)).includes('recovery-codes-made'));
  });

  it('has ten recovery codes also when its first two are added at the same time, and when the codes are renewed twice [authentication.factors.recovery]', async () => {
    const { account, browser } = await pages.signedIn();
    const together = async (acts: readonly (() => Promise<Answer>)[]): Promise<number> => {
      await using held = await connectTo(pages.testService.backends.databaseUrl);
      await held.query('begin');
      await held.query('lock table auth.recovery_codes in share mode');
      const answers = acts.map((act) => act());
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await eventually(async () => (await sql(waiting, [])).length === acts.length);
      await held.query('commit');
      return (await Promise.all(answers)).flatMap(recoveryCodesOf).length;
    };
    const stored = async (): Promise<unknown> =>
      (await sql(`select count(*)::int as codes from auth.recovery_codes where account_id = $1`, [account.id]))[0];
    const add = async (): Promise<Answer> => (await addPasskey(pages, browser)).answer;
    assert.equal(await together([add, add]), 10);
    assert.deepEqual(await stored(), { codes: 10 });
    const renew = (): Promise<Answer> => browser.submit('/account/security', {}, '/account/recovery-codes');
    await together([renew, renew]);
    assert.deepEqual(await stored(), { codes: 10 });
  });

  it('is stored as no secret that opens the account [never.secret-in-clear]', async () => {
    const { account, app } = await withApp();
    const [row] = await sql(`select encode(secret, 'hex') as secret from auth.totp where account_id = $1`, [
      account.id,
    ]);
    assert.ok(!String(row?.['secret']).includes(app.secret.toString('hex')));
  });

  it('goes when the person removes it, with the recovery codes after the last one', async () => {
    const { account, browser } = await withApp();
    await addPasskey(pages, browser);
    const page = await browser.get('/account/security');
    const remove = /href="(\/account\/passkeys\/[^"]+\/remove)"/.exec(page.text)?.[1] ?? '';
    const foreign = (await pages.signedIn()).browser;
    assert.equal((await foreign.get(remove)).status, 404);
    assert.equal((await foreign.post(remove, hiddenOf(await foreign.get('/account'), '/sign-out'))).status, 404);
    assert.equal((await browser.get(remove)).status, 200);
    assert.equal((await browser.submit(remove, {})).status, 303);
    assert.equal((await sql(`select from auth.passkeys where account_id = $1`, [account.id])).length, 0);
    assert.equal((await sql(`select from auth.recovery_codes where account_id = $1`, [account.id])).length, 10);
    assert.equal((await browser.submit('/account/totp/remove', {})).status, 303);
    assert.equal((await sql(`select from auth.recovery_codes where account_id = $1`, [account.id])).length, 0);
    const other = pages.browser();
    assert.equal((await other.submit('/sign-in', { ...account })).to?.href, `${pages.issuer}/account`);
  });

  it('is asked for again, or the password, before acts that outlast an old sign-in, without losing what was entered [authentication.sessions.ask-again]', async () => {
    const { account, browser } = await pages.signedIn();
    const { authenticator } = await addPasskey(pages, browser);
    await addApp(browser);
    const grow = (): Promise<unknown> =>
      sql(
        `update auth.sessions set created_at = created_at - interval '11 minutes', confirmed_at = null where account_id = $1`,
        [account.id],
      );
    const count = async (table: string): Promise<number> =>
      (await sql(`select from auth.${table} where account_id = $1`, [account.id])).length;
    await grow();
    const key = { label: 'deploy', access: 'full-access', expires: '30' };
    const asked = await browser.submit('/account/keys', key, '/account/keys');
    assert.equal(asked.status, 200);
    assert.match(asked.text, /To create an API key, enter your password again/);
    const form = hiddenOf(asked, '/account/keys');
    assert.deepEqual([form['label'], form['access'], form['again']], ['deploy', 'full-access', 'password']);
    const wrong = await browser.post('/account/keys', { ...form, again_password: 'wrong password' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /The password is wrong/);
    const made = await browser.post('/account/keys', { ...form, again_password: account.password });
    assert.equal(made.status, 303);
    assert.match((await browser.get('/account/keys')).text, /deploy/);
    assert.equal(
      (await browser.submit('/account/keys', { label: 'x', access: 'full-access' }, '/account/keys')).status,
      303,
    );
    await grow();
    const readOnly = await browser.submit('/account/keys', { label: 'y' }, '/account/keys');
    assert.match(readOnly.text, /Confirm it is you/, 'a key that can only read outlasts the session too');
    for (const [path, from] of [
      ['/account/totp', '/account/security'],
      ['/account/recovery-codes', '/account/security'],
      ['/account/totp/remove', '/account/totp/remove'],
    ] as const) {
      const answer = await browser.submit(from, {}, path);
      assert.match(answer.text, /enter your password again/, path);
    }
    assert.deepEqual([await count('totp'), await count('recovery_codes')], [1, 10]);
    const { answer } = await addPasskey(pages, browser);
    assert.match(answer.text, /To add a passkey, enter your password again/);
    assert.equal(await count('passkeys'), 1);
    // By a passkey, whose answer is for this session, with the answer of the new one that waits.
    const passkeyForm = [
      ...answer.text.matchAll(/<form method="post" action="\/account\/passkeys">(.*?)<\/form>/gs),
    ][1]?.[0];
    const page = { ...answer, text: passkeyForm ?? '' };
    const again = authenticator.get(optionsOf(page, 'get'));
    const added = await browser.post('/account/passkeys', { ...hiddenOf(page), again_passkey: again });
    assert.equal(added.status, 303, added.text);
    assert.equal(await count('passkeys'), 2);
  });

  it('cannot be guessed on the page that asks again [authentication.sessions.ask-again]', async () => {
    const { account, browser } = await pages.signedIn();
    await sql(`update auth.sessions set created_at = now() - interval '1 hour' where account_id = $1`, [account.id]);
    const form = hiddenOf(await browser.submit('/account/security', {}, '/account/totp'), '/account/totp');
    for (let n = 0; n < AUTH_LIMITS.signInFailuresMax; n += 1)
      assert.equal((await browser.post('/account/totp', { ...form, again_password: 'wrong' })).status, 422);
    const refused = await browser.post('/account/totp', { ...form, again_password: account.password });
    assert.match(refused.text, /Too many attempts failed/);
  });

  it('that a person adds to a page without its form token is refused [authentication.pages.forged-forms]', async () => {
    const { browser } = await withApp();
    const passkey = randomUUID();
    for (const path of [
      '/account/passkeys',
      `/account/passkeys/${passkey}/remove`,
      '/account/totp',
      '/account/totp/confirm',
      '/account/totp/remove',
      '/account/recovery-codes',
      '/sign-in/factor',
      '/sign-in/passkey',
    ]) {
      assert.equal((await browser.post(path, { csrf: 'x' })).status, 403, path);
    }
  });
});
