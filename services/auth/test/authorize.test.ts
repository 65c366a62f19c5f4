import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { openTestPages, type TestPages } from './people.ts';
import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';

const REDIRECT = 'https://app.example/callback?from=here';

describe('/authorize', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  /** Registers a client as the registration endpoint stores it. */
  const client = async (given: { name?: string | null; redirectUris?: readonly string[] } = {}): Promise<string> => {
    const id = randomUUID();
    const { name = 'Notes', redirectUris = [REDIRECT] } = given;
    await pages.testService.backends.sql(
      `insert into auth.clients (id, name, redirect_uris, auth_method, grant_types)
        values ($1, $2, $3, 'none', '{authorization_code,refresh_token}')`,
      [id, name, redirectUris],
    );
    return id;
  };
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');
  const query = (clientId: string, changes: Record<string, string | null> = {}): URLSearchParams => {
    const all = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 'xyz',
      ...changes,
    };
    return new URLSearchParams(Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
  };
  const ask = (browser: TestBrowser, ...of: Parameters<typeof query>): Promise<Answer> =>
    browser.open(`/authorize?${query(...of).toString()}`);
  const decide = (browser: TestBrowser, page: Answer, decision: string): Promise<Answer> =>
    browser.post('/consent', { ...hiddenOf(page), decision });
  const grantsOf = (clientId: string): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(`select * from auth.grants where client_id = $1`, [clientId]);

  it('leads over the sign-in to the consent, and with the consent to the client with code, state and iss [authentication.oauth.authorize, authentication.consent.redirect]', async () => {
    const clientId = await client();
    const account = await pages.account();
    const browser = pages.browser();
    const state = `quotes "'<> é ${'s'.repeat(4000)}`;
    const signIn = await ask(browser, clientId, { state, scope: 'read', resource: `${pages.issuer}/mcp` });
    assert.match(signIn.text, /to continue to <strong><bdi>Notes<\/bdi><\/strong>/);
    const { to } = await browser.post('/sign-in', { ...hiddenOf(signIn), ...account });
    const consent = await browser.open(to!.href.slice(pages.issuer.length));
    assert.match(consent.text, /Allow <bdi>Notes<\/bdi> to use your account/);
    assert.deepEqual(await grantsOf(clientId), []);
    const answer = await decide(browser, consent, 'allow');
    assert.equal(answer.status, 303);
    const { origin, pathname, searchParams } = answer.to!;
    assert.equal(`${origin}${pathname}`, 'https://app.example/callback');
    assert.equal(searchParams.get('from'), 'here');
    assert.equal(searchParams.get('state'), state);
    assert.equal(searchParams.get('iss'), pages.issuer);
    assert.ok((searchParams.get('code') ?? '').length >= 43);
    const [grant] = await grantsOf(clientId);
    assert.deepEqual(
      [grant?.['scopes'], grant?.['resources'], grant?.['client_name']],
      [['read'], [`${pages.issuer}/mcp`], 'Notes'],
    );
  });

  it('asks for consent again for every request, and names client, host, scopes and person [authentication.consent.always]', async () => {
    const clientId = await client({ name: 'Notes' });
    const { browser, account } = await pages.signedIn();
    assert.equal((await decide(browser, await ask(browser, clientId), 'allow')).status, 303);
    const again = await ask(browser, clientId);
    assert.equal(again.to, null);
    for (const text of [
      'Notes',
      'app.example',
      'See your workspaces',
      'Create, change and delete tasks',
      'Ada Lovelace',
      account.email,
    ]) {
      assert.ok(again.text.includes(text), text);
    }
    const read = await ask(browser, clientId, { scope: 'read' });
    assert.ok(!read.text.includes('Create, change'));
  });

  it('warns about programs on the device, whose name any program can use [authentication.consent.always]', async () => {
    const { browser } = await pages.signedIn();
    const cases = [
      ['http://127.0.0.1/cb', 'http://127.0.0.1:4567/cb', '127.0.0.1:4567', 'http://127.0.0.1:4567'],
      ['http://localhost/cb', 'http://localhost:4567/cb', 'localhost:4567', 'http://localhost:4567'],
      ['http://[::1]/cb', 'http://[::1]:4567/cb', '[::1]:4567', 'http:'],
      ['com.example.app:/cb', 'com.example.app:/cb', 'com.example.app:', 'com.example.app:'],
    ] as const;
    for (const [registered, asked, shown, source] of cases) {
      const page = await ask(browser, await client({ redirectUris: [registered] }), { redirect_uri: asked });
      assert.match(page.text, /Any program can use this name/, asked);
      assert.ok(page.text.includes(`<strong>${shown}</strong>`), asked);
      assert.ok(page.headers.get('content-security-policy')?.includes(`form-action 'self' ${source};`), asked);
      const { status, to } = await decide(browser, page, 'allow');
      assert.deepEqual([status, to?.href.startsWith(asked)], [303, true]);
    }
    assert.ok(!(await ask(browser, await client())).text.includes('Any program'));
  });

  it('shows nothing of a client as markup [authentication.consent.client-name]', async () => {
    const { browser } = await pages.signedIn();
    const name = `<script>alert(1)</script>"'\u202E<img src=x onerror=alert(1)>`;
    const redirectUri = 'https://app.example/?"><script>alert(2)</script>';
    const clientId = await client({ name, redirectUris: [redirectUri] });
    const page = await ask(browser, clientId, { redirect_uri: redirectUri, state: '"><script>alert(3)</script>' });
    assert.match(page.text, /&lt;script&gt;alert\(1\)/);
    for (const raw of ['<script', '<img', '\u202E']) assert.ok(!page.text.includes(raw), raw);
  });

  it('lets the person allow reading only, one workspace and an end, and never more than was asked for [authentication.consent.choices]', async () => {
    const { browser, account } = await pages.signedIn();
    const [person] = await pages.testService.backends.sql(`select user_id from auth.identities where email = $1`, [
      account.email,
    ]);
    const [own, foreign] = [await pages.testService.workspace(), await pages.testService.workspace()];
    await pages.testService.addMember(own.id, String(person?.['user_id']), 'member');
    const allow = async (scope: string, choices: Record<string, string>): Promise<[number, unknown]> => {
      const clientId = await client();
      const page = await ask(browser, clientId, { scope });
      assert.ok(page.text.includes(own.id) && !page.text.includes(foreign.id));
      assert.equal(page.text.includes('also for good'), scope !== 'read');
      const { status } = await browser.post('/consent', { ...hiddenOf(page), decision: 'allow', ...choices });
      const [grant] = await grantsOf(clientId);
      if (grant === undefined) return [status, null];
      const days = ((grant['ends_at'] as Date).getTime() - (grant['created_at'] as Date).getTime()) / 86_400_000;
      return [status, [grant['scopes'], grant['workspace_id'], Math.round(days)]];
    };
    const chosen = { access: 'read', workspace: own.id, expires: '7' };
    assert.deepEqual(await allow('read write', chosen), [303, [['read'], own.id, 7]]);
    assert.deepEqual(await allow('read write', {}), [303, [['read', 'write'], null, 90]]);
    assert.deepEqual(await allow('read', { access: 'write' }), [303, [['read'], null, 90]]);
    for (const wrong of [{ access: 'admin' }, { workspace: foreign.id }, { workspace: 'x' }, { expires: '365' }])
      assert.deepEqual(await allow('read write', { ...chosen, ...wrong }), [400, null], JSON.stringify(wrong));
  });

  it('leads back with access_denied, and grants nothing, when the person denies [authentication.consent.redirect]', async () => {
    const clientId = await client();
    const { browser } = await pages.signedIn();
    const { status, to } = await decide(browser, await ask(browser, clientId), 'deny');
    assert.equal(status, 303);
    const { error, state, iss, code } = Object.fromEntries(to!.searchParams);
    assert.deepEqual([error, state, iss, code], ['access_denied', 'xyz', pages.issuer, undefined]);
    assert.deepEqual(await grantsOf(clientId), []);
  });

  it('never redirects to an address that is not registered [authentication.consent.redirect]', async () => {
    const clientId = await client();
    const twoAddresses = await client({ redirectUris: [REDIRECT, 'https://app.example/other'] });
    const cases: [string, Record<string, string | null>][] = [
      [randomUUID(), {}],
      ['', {}],
      [clientId, { redirect_uri: 'https://evil.example/callback' }],
      [clientId, { redirect_uri: `${REDIRECT}&x=1` }],
      [clientId, { redirect_uri: REDIRECT.replace('https', 'http') }],
      [clientId, { redirect_uri: REDIRECT.replace('app.', 'APP.') }],
      [twoAddresses, { redirect_uri: null }],
    ];
    const { browser } = await pages.signedIn();
    const answers: Answer[] = [];
    for (const [id, changes] of cases) {
      answers.push(await browser.get(`/authorize?${query(id, changes).toString()}`));
      answers.push(await browser.post('/authorize', Object.fromEntries(query(id, changes))));
    }
    for (const repeated of ['redirect_uri=https://evil.example', `client_id=${clientId}`])
      answers.push(await browser.get(`/authorize?${query(clientId).toString()}&${repeated}`));
    for (const { status, to, headers } of answers) {
      assert.deepEqual([status, to], [400, null]);
      assert.match(headers.get('content-type') ?? '', /text\/html/);
    }
  });

  it('reports every other fault to the client, with state and iss [authentication.consent.redirect]', async () => {
    const clientId = await client();
    const cases: [Record<string, string | null>, string][] = [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: null }, 'invalid_request'],
      [{ code_challenge: null }, 'invalid_request'],
      [{ code_challenge: 'short' }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge_method: null }, 'invalid_request'],
      [{ scope: 'admin' }, 'invalid_scope'],
      [{ resource: 'https://other.example' }, 'invalid_target'],
    ];
    for (const [changes, expected] of cases) {
      for (const method of ['get', 'post'] as const) {
        const asked = query(clientId, changes);
        const answer =
          method === 'get'
            ? await pages.browser().get(`/authorize?${asked.toString()}`)
            : await pages.browser().post('/authorize', Object.fromEntries(asked), { origin: 'https://app.example' });
        assert.equal(answer.status, 303);
        const { error, state, iss } = Object.fromEntries(answer.to!.searchParams);
        assert.deepEqual([error, state, iss], [expected, 'xyz', pages.issuer], JSON.stringify(changes));
      }
    }
    const { to } = await pages.browser().get(`/authorize?${query(clientId).toString()}&scope=read&scope=write`);
    assert.equal(to?.searchParams.get('error'), 'invalid_request');
  });

  it('takes a form of another site as it takes a query [authentication.oauth.authorize]', async () => {
    const clientId = await client();
    const { browser } = await pages.signedIn();
    const without = pages.browser();
    const { to } = await without.post('/authorize', Object.fromEntries(query(clientId)), {
      origin: 'https://app.example',
    });
    const page = await browser.open(to!.href.slice(pages.issuer.length));
    assert.equal((await decide(browser, page, 'allow')).to?.searchParams.get('state'), 'xyz');
  });

  it('gives no code for a forged decision, or one of another browser or session [authentication.pages.forged-forms]', async () => {
    const clientId = await client();
    const { browser, account } = await pages.signedIn();
    const page = await ask(browser, clientId);
    const { csrf = '', request = '' } = hiddenOf(page);
    const eve = (await pages.signedIn()).browser;
    const eveForm = hiddenOf(await ask(eve, clientId));
    const refused: readonly Answer[] = [
      await browser.post('/consent', { request, decision: 'allow' }),
      await browser.post('/consent', { csrf: eveForm['csrf'] ?? '', request, decision: 'allow' }),
      await browser.post('/consent', { csrf, request, decision: 'allow' }, { origin: 'https://evil.example' }),
      await browser.post('/consent', { csrf, request: eveForm['request'] ?? '', decision: 'allow' }),
      await eve.post('/consent', { ...eveForm, request, decision: 'allow' }),
      await browser.post('/consent', { csrf, request, decision: 'maybe' }),
      await eve.get(`/consent?request=${request}`),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      [403, 403, 403, 400, 400, 400, 400],
    );
    assert.deepEqual(await grantsOf(clientId), []);
    // The form of an earlier session of this browser.
    await browser.submit('/sign-in', { email: account.email, password: account.password });
    assert.equal((await browser.post('/consent', { csrf, request, decision: 'allow' })).status, 403);
    const current = await browser.get(`/consent?request=${request}`);
    assert.equal((await decide(browser, current, 'allow')).status, 303);
    assert.equal((await decide(browser, current, 'allow')).status, 400, 'a decision is made once');
    assert.equal((await grantsOf(clientId)).length, 1);
  });

  it('gives one code for decisions in parallel', async () => {
    const clientId = await client();
    const { browser } = await pages.signedIn();
    const page = await ask(browser, clientId);
    const answers = await Promise.all(Array.from({ length: 8 }, () => decide(browser, page, 'allow')));
    assert.equal(answers.filter(({ status }) => status === 303).length, 1);
    assert.equal((await grantsOf(clientId)).length, 1);
  });

  it('lets the person use another account, and keeps the request', async () => {
    const clientId = await client();
    const { browser } = await pages.signedIn();
    const page = await ask(browser, clientId);
    const other = await pages.account();
    const { to } = await browser.post('/consent', { ...hiddenOf(page), decision: 'switch' });
    const consent = await browser.submit(to!.href.slice(pages.issuer.length), { ...other });
    const shown = await browser.open(consent.to!.href.slice(pages.issuer.length));
    assert.ok(shown.text.includes(other.email));
    assert.equal((await decide(browser, shown, 'allow')).status, 303);
  });

  it('ends a request after ten minutes', async () => {
    const { browser } = await pages.signedIn();
    const page = await ask(browser, await client());
    await pages.testService.backends.sql(`update auth.pending_requests set expires_at = now()`);
    assert.equal((await decide(browser, page, 'allow')).status, 400);
  });

  it('shows pages that are not framed, not stored, run no script but the file for passkeys and allow no other site [authentication.pages.closed]', async () => {
    const { browser } = await pages.signedIn();
    const clientId = await client();
    const answers = [
      await ask(browser, clientId),
      await pages.browser().get('/sign-in'),
      await browser.get('/account'),
      await browser.get('/join'),
      await browser.get(`/authorize?client_id=x`),
      await browser.get(`/authorize?${query(clientId).toString()}`),
    ];
    for (const { headers, text } of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      for (const rule of [
        "default-src 'none'",
        "style-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "form-action 'self'",
      ]) {
        assert.ok(policy.includes(rule), `${rule} in ${policy}`);
      }
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('access-control-allow-origin'), null);
      // Passkeys need a script, which is one file of this site.
      const hasPasskeys = text.includes('<script src="/passkeys.js" defer></script>');
      assert.equal(policy.includes("script-src 'self';"), hasPasskeys);
      assert.ok(!/<script|style=|onclick/.test(text.replace('<script src="/passkeys.js" defer></script>', '')));
    }
  });
});
