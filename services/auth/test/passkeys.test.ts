import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { TestAuthenticator, type Wrong } from './authenticator.ts';
import { addPasskey, optionsOf, present, recoveryCodesOf, secondStep } from './factors.ts';
import { openTestPages, type TestAccount, type TestPages } from './people.ts';

describe('a passkey', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  const sql = (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(text, values);
  const isSignedIn = async (browser: TestBrowser): Promise<boolean> => (await browser.get('/account')).status === 200;
  const kindsOf = async ({ id }: TestAccount): Promise<unknown[]> =>
    (await sql(`select kind from auth.events where account_id = $1 order by at`, [id])).map(({ kind }) => kind);

  it('is a second step, and signs in alone with a verified person [authentication.passkeys.sign-in]', async () => {
    const { account, browser } = await pages.signedIn();
    const { authenticator, answer } = await addPasskey(pages, browser);
    assert.equal(recoveryCodesOf(answer).length, 10);
    const second = pages.browser();
    const page = await secondStep(second, account);
    const options = optionsOf(page, 'get');
    assert.deepEqual((options as { allowCredentials?: unknown }).allowCredentials, [
      { type: 'public-key', id: authenticator.credentialId.toString('base64url') },
    ]);
    // As a second factor it needs no verified person, because the password was right.
    const passkey = authenticator.get(options, { isVerified: false });
    assert.equal((await present(second, page, { passkey })).status, 303);
    const alone = pages.browser();
    const signIn = await alone.get('/sign-in');
    const given = authenticator.get(optionsOf(signIn, 'get'));
    const fields = hiddenOf(signIn, '/sign-in/passkey');
    const done = await alone.post('/sign-in/passkey', { ...fields, passkey: given });
    assert.equal(done.to?.href, `${pages.issuer}/account`);
    assert.equal(await isSignedIn(alone), true);
    const [session] = await sql(`select method from auth.sessions where account_id = $1 order by created_at desc`, [
      account.id,
    ]);
    assert.equal(session?.['method'], 'passkey');
  });

  it('counts for its challenge, browser, site, account and signature alone [authentication.passkeys.challenge]', async () => {
    const { account, browser } = await pages.signedIn();
    const { authenticator } = await addPasskey(pages, browser);
    const other = await pages.signedIn();
    const { authenticator: foreign } = await addPasskey(pages, other.browser);
    const attempt = async (change: Wrong = {}, by = authenticator): Promise<number> => {
      const alone = pages.browser();
      const page = await alone.get('/sign-in');
      const passkey = by.get(optionsOf(page, 'get'), change);
      return (await alone.post('/sign-in/passkey', { ...hiddenOf(page, '/sign-in/passkey'), passkey })).status;
    };
    const elsewhere = optionsOf(await pages.browser().get('/sign-in'), 'get');
    const wrongs: Wrong[] = [
      { isVerified: false },
      { origin: 'https://evil.example' },
      { origin: `${pages.issuer}:8443` },
      { rpId: 'evil.example' },
      { type: 'webauthn.create' },
      { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
      { userHandle: foreign.userHandle },
      { challenge: elsewhere.challenge },
      { challenge: Buffer.from('made up').toString('base64url') },
      { challenge: 'x' },
    ];
    for (const wrong of wrongs) assert.equal(await attempt(wrong), 422, JSON.stringify(wrong));
    assert.equal(await attempt({}, new TestAuthenticator(pages.issuer)), 422, 'an unknown one');
    for (const passkey of ['', '{}', 'null', '[]', '{"id":7}', `{"id":"${'a'.repeat(2000)}"}`]) {
      const alone = pages.browser();
      const page = await alone.get('/sign-in');
      assert.equal(
        (await alone.post('/sign-in/passkey', { ...hiddenOf(page, '/sign-in/passkey'), passkey })).status,
        422,
      );
    }
    // The challenge of the sign-in does not count as a second step, and the passkey of another account neither.
    const second = pages.browser();
    const signIn = optionsOf(await second.get('/sign-in'), 'get');
    const page = await secondStep(second, account);
    assert.equal((await present(second, page, { passkey: authenticator.get(signIn) })).status, 422);
    assert.equal((await present(second, page, { passkey: foreign.get(optionsOf(page, 'get')) })).status, 422);
    assert.equal(await attempt(), 303);
  });

  it('is answered once with each challenge, also in parallel, and refused as a copy when its counter does not advance [authentication.passkeys.challenge, authentication.passkeys.copy]', async () => {
    const { account, browser } = await pages.signedIn();
    const { authenticator } = await addPasskey(pages, browser);
    const alone = pages.browser();
    const page = await alone.get('/sign-in');
    const fields = { ...hiddenOf(page, '/sign-in/passkey'), passkey: authenticator.get(optionsOf(page, 'get')) };
    const answers = await Promise.all(Array.from({ length: 5 }, () => alone.post('/sign-in/passkey', fields)));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [303, 422, 422, 422, 422],
    );
    const next = await alone.get('/sign-in');
    const copied = authenticator.get(optionsOf(next, 'get'), { counter: 1 });
    const refused = await alone.post('/sign-in/passkey', { ...hiddenOf(next, '/sign-in/passkey'), passkey: copied });
    assert.equal(refused.status, 422);
    assert.ok((await kindsOf(account)).includes('passkey-copied'));
    await sql(`update auth.used_challenges set expires_at = now() - interval '1 hour'`, []);
    assert.equal(
      (await alone.post('/sign-in/passkey', fields)).status,
      422,
      'when its use is forgotten, it has expired or the counter is old',
    );
  });

  it('without a counter works each time, and a challenge ends', async () => {
    const { browser } = await pages.signedIn();
    const { authenticator } = await addPasskey(pages, browser);
    const attempt = async (): Promise<number> => {
      const alone = pages.browser();
      const page = await alone.get('/sign-in');
      const passkey = authenticator.get(optionsOf(page, 'get'), { counter: 0 });
      return (await alone.post('/sign-in/passkey', { ...hiddenOf(page, '/sign-in/passkey'), passkey })).status;
    };
    assert.deepEqual([await attempt(), await attempt()], [303, 303]);
  });

  it('is added with the challenge of its session alone, once for each authenticator, and no certificate of it is read [authentication.passkeys.challenge, never.non-public-address]', async () => {
    const { browser, account } = await pages.signedIn();
    const page = await browser.get('/account/security');
    const options = optionsOf(page, 'create');
    const authenticator = new TestAuthenticator(pages.issuer);
    const post = (from: TestBrowser, fields: Record<string, string>, passkey: string): Promise<Answer> =>
      from.post('/account/passkeys', { ...fields, passkey, name: 'x' });
    const own = hiddenOf(page, '/account/passkeys');
    const wrongs: Wrong[] = [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }, { challenge: 'AAAA' }];
    for (const wrong of wrongs)
      assert.equal((await post(browser, own, authenticator.create(options, wrong))).status, 422);
    const other = await pages.signedIn();
    const theirs = hiddenOf(await other.browser.get('/account/security'), '/account/passkeys');
    assert.equal((await post(other.browser, theirs, authenticator.create(options))).status, 422);
    const answer = authenticator.create(options, { format: 'packed' });
    assert.equal((await post(browser, own, answer)).status, 200);
    assert.equal((await post(browser, own, answer)).status, 422, 'the same answer again');
    const again = optionsOf(await browser.get('/account/security'), 'create');
    assert.equal((await post(browser, own, authenticator.create(again))).status, 422, 'the same authenticator again');
    assert.equal((await sql(`select from auth.passkeys where account_id = $1`, [account.id])).length, 1);
  });
});
