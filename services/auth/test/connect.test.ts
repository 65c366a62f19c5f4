import { connectApi, type ErrorCode } from '@wts/contracts';
import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { AUTH_LIMITS } from '../src/limits.ts';
import { openTestPages, type TestPages } from './people.ts';
import { SERVICE } from './test-service.ts';

const PORT = '49152';
const DECISION = '/account/connect/decision';

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

describe('/account/connect', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  const sql = (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    pages.testService.backends.sql(text, values);
  /** A tool that asks, with changes of its parameters; null leaves one out. */
  const tool = (changes: Record<string, string | null> = {}): { verifier: string; path: string } => {
    const verifier = randomBytes(32).toString('base64url');
    const all = { name: 'wts on laptop', challenge: challengeOf(verifier), port: PORT, state: 'a-state', ...changes };
    const given = Object.entries(all).filter((one): one is [string, string] => one[1] !== null);
    return { verifier, path: `/account/connect?${new URLSearchParams(given).toString()}` };
  };
  const decide = (browser: TestBrowser, page: Answer, fields: Record<string, string> = {}): Promise<Answer> =>
    browser.post(DECISION, { ...hiddenOf(page), decision: 'allow', ...fields });
  const codeOf = ({ to, text }: Answer): string =>
    to?.searchParams.get('code') ?? /<code class="token">([^<]+)</.exec(text)?.[1] ?? '';
  /** The code that a person gives to a tool. */
  const allowed = async (
    changes: Record<string, string | null> = {},
    fields: Record<string, string> = {},
  ): Promise<{ browser: TestBrowser; code: string; verifier: string }> => {
    const { browser } = await pages.signedIn();
    const { verifier, path } = tool(changes);
    return { browser, verifier, code: codeOf(await decide(browser, await browser.open(path), fields)) };
  };
  const exchange = (body: { code: string; verifier: string }) =>
    pages.testService.call(SERVICE, connectApi.exchangeCode, { body });
  const refusalOf = async (body: { code: string; verifier: string }): Promise<ErrorCode | undefined> =>
    (await exchange(body)).code;
  const keysOf = async (browser: TestBrowser): Promise<number> =>
    (await browser.get('/account/keys')).text.split('aria-label="Revoke the key').length - 1;

  it('leads over the sign-in to a page that names tool, port and person, and with the consent to the tool, whose code gives a key once [authentication.connect.page, authentication.connect.key, authentication.connect.code-once]', async () => {
    const account = await pages.account();
    const browser = pages.browser();
    const { verifier, path } = tool({ access: 'full-access' });
    const signIn = await browser.open(path);
    assert.match(signIn.text, /to continue to <strong><bdi>wts on laptop<\/bdi><\/strong>/);
    const { to } = await browser.post('/sign-in', { ...hiddenOf(signIn), ...account });
    const page = await browser.open(to!.href.slice(pages.issuer.length));
    for (const text of ['<bdi>wts on laptop</bdi>', `127.0.0.1:${PORT}`, account.email, 'asks for <strong>full access'])
      assert.ok(page.text.includes(text), text);
    const answer = await decide(browser, page, { access: 'full-access' });
    assert.equal(answer.status, 303);
    assert.equal(answer.to?.href, `http://127.0.0.1:${PORT}/callback?code=${codeOf(answer)}&state=a-state`);
    assert.equal(await keysOf(browser), 0, 'a code alone makes no key');
    const { status, body, headers } = await exchange({ code: codeOf(answer), verifier });
    assert.deepEqual([status, headers['cache-control']], [201, 'no-store']);
    const { label, permissions, workspaceId, createdBy, expiresAt, token } = body.key;
    assert.deepEqual(
      [label, permissions, workspaceId, createdBy?.kind],
      ['wts on laptop', 'full-access', null, 'session'],
    );
    const days = (Date.parse(expiresAt ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 89.9 && days <= 90, String(days));
    assert.equal(body.apiUrl, 'http://localhost:4000');
    assert.ok((await pages.testService.resolveKey(token)) !== null);
    const [stored] = await sql(`select c::text as row from auth.connect_codes c where key_id = $1`, [body.key.id]);
    assert.ok(!String(stored?.['row']).includes(codeOf(answer)), 'only the hash of a code is stored');
  });

  it('gives a key with the access, the end and the workspace that the person chose, read only unless a tool asks for more [authentication.connect.key]', async () => {
    const { browser, account } = await pages.signedIn();
    const [found] = await sql(`select user_id from auth.identities where email = $1`, [account.email]);
    const { id: workspace } = await pages.testService.workspace();
    await pages.testService.addMember(workspace, String(found?.['user_id']), 'member');
    const { verifier, path } = tool();
    const page = await browser.open(path);
    assert.match(page.text, /<select id="access" name="access">\s*<option value="read-only"/);
    assert.match(
      (await browser.open(tool({ access: 'full-access' }).path)).text,
      /name="access">\s*<option value="full/,
    );
    const code = codeOf(await decide(browser, page, { workspace, expires: 'never' }));
    const { key } = (await exchange({ code, verifier })).body;
    assert.deepEqual([key.permissions, key.workspaceId, key.expiresAt], ['read-only', workspace, null]);
    for (const bad of [{ access: 'root' }, { expires: '1' }, { workspace: 'x' }, { workspace: crypto.randomUUID() }])
      assert.equal((await decide(browser, await browser.open(tool().path), bad)).status, 400, JSON.stringify(bad));
    const foreign = (await pages.testService.workspace()).id;
    assert.equal((await decide(browser, await browser.open(tool().path), { workspace: foreign })).status, 400);
  });

  it('shows the code to copy where no port is given, for five minutes [authentication.connect.page]', async () => {
    const { browser } = await pages.signedIn();
    const { verifier, path } = tool({ port: null, state: null });
    const page = await browser.open(path);
    assert.match(page.text, /never send it to anyone/);
    assert.ok(!page.headers.get('content-security-policy')?.includes('127.0.0.1'));
    const shown = await decide(browser, page);
    assert.deepEqual([shown.status, shown.to], [200, null]);
    await sql(`update auth.connect_codes set expires_at = expires_at - interval '299 s' where key_id is null`);
    assert.equal((await exchange({ code: codeOf(shown), verifier })).status, 201);
  });

  it('makes no key without the verifier, however a code was intercepted, and a wrong verifier ends the code [authentication.connect.code-once]', async () => {
    const { browser, code, verifier } = await allowed();
    assert.equal(await refusalOf({ code, verifier: 'v'.repeat(43) }), 'invalid_grant');
    assert.equal(await refusalOf({ code, verifier }), 'invalid_grant');
    assert.equal(await keysOf(browser), 0);
  });

  it('revokes the key of a code that is exchanged again with its verifier, but not with a wrong one [authentication.connect.code-once]', async () => {
    const { browser, ...body } = await allowed();
    const { key } = (await exchange(body)).body;
    assert.equal(await refusalOf({ ...body, verifier: 'v'.repeat(43) }), 'invalid_grant');
    assert.ok((await pages.testService.resolveKey(key.token)) !== null);
    const published = await pages.testService.backends.revocations();
    await sql(`update auth.connect_codes set expires_at = now() - interval '1 day' where key_id = $1`, [key.id]);
    assert.equal(await refusalOf(body), 'invalid_grant');
    assert.ok(!((await pages.testService.resolveKey(key.token)) !== null));
    assert.deepEqual(await published.next(), { kind: 'credential', credentialId: key.id, userId: key.userId });
    assert.equal(await keysOf(browser), 0);
  });

  it('leaves no key that works when a code is exchanged several times at once [authentication.connect.code-once]', async () => {
    const { browser, ...body } = await allowed();
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(body)));
    assert.ok(answers.filter(({ status }) => status === 201).length <= 1);
    assert.equal(await keysOf(browser), 0);
  });

  it('makes no key for a code that has expired, whose session ended, or that was guessed [authentication.connect.code-once]', async () => {
    const { code, verifier } = await allowed();
    await sql(`update auth.connect_codes set expires_at = expires_at - interval '60 s'`);
    assert.equal(await refusalOf({ code, verifier }), 'invalid_grant');
    const { browser, ...signedOut } = await allowed();
    await browser.post('/sign-out', hiddenOf(await browser.get('/account'), '/sign-out'));
    assert.equal(await refusalOf(signedOut), 'invalid_grant');
    assert.equal(await refusalOf({ code: `wtsc_${'0'.repeat(64)}`, verifier }), 'invalid_grant');
    for (const wrong of ['', `wtsc_${'0'.repeat(63)}`, `wtsr_${'0'.repeat(64)}`, `wtsc_${'0'.repeat(9000)}`])
      assert.equal(await refusalOf({ code: wrong, verifier }), 'validation_failed');
  });

  it('takes no verifier as its own challenge, and no challenge that is missing or of another form [authentication.connect.code-once]', async () => {
    const plain = 'p'.repeat(43);
    const { browser, code } = await allowed({ challenge: plain });
    assert.equal(await refusalOf({ code, verifier: plain }), 'invalid_grant');
    for (const challenge of [null, '', 'short', `${plain}=`, `${plain}A`, `${'p'.repeat(42)}+`, 'p'.repeat(4000)]) {
      const { status, to } = await browser.open(tool({ challenge }).path);
      assert.deepEqual([status, to], [400, null], String(challenge));
    }
  });

  it('leads to no other place than a port of 127.0.0.1, whatever is given as the port or in the address [authentication.connect.loopback]', async () => {
    const { browser } = await pages.signedIn();
    const ports = ['0', '80', '443', '1023', '65536', '99999', '08080', '+8080', '8080 ', '8e3', '0x1f90', '٨٠٨٠'];
    const tricks = ['80@evil.example', '8080@evil', '8080/', '8080#', '8080?x', '8080.evil.example', '[::1]:8080'];
    const encoded = ['8080%40evil', '8080\r\nx', '8080\\evil', ':8080', '127.0.0.1:8080', 'evil.example:80'];
    for (const port of [...ports, ...tricks, ...encoded]) {
      const { status, to, text } = await browser.open(tool({ port }).path);
      assert.deepEqual([status, to], [400, null], port);
      assert.ok(!text.includes('evil'), port);
    }
    const { path } = tool();
    for (const more of ['port=8080', 'host=evil.example&port=8080', 'port%5B%5D=1&state=b'])
      assert.equal((await browser.open(`${path}&${more}`)).status, 400, more);
    const ignored = '&host=evil.example&redirect_uri=https%3A%2F%2Fevil.example&callback=%2F%2Fevil';
    const answer = await decide(browser, await browser.open(`${path}${ignored}`), { port: '80', request_uri: 'x' });
    assert.deepEqual([answer.to?.host, answer.to?.pathname], [`127.0.0.1:${PORT}`, '/callback']);
    for (const state of [null, '', 'a b', 'a&code=b', 'a\r\nb', 'é', 's'.repeat(129)])
      assert.equal((await browser.open(tool({ state }).path)).status, 400, String(state));
  });

  it('gives no code for a form of another site, without its token, or of another browser [authentication.pages.forged-forms]', async () => {
    const { browser } = await pages.signedIn();
    const page = await browser.open(tool().path);
    const { csrf = '', request = '' } = hiddenOf(page);
    const eve = (await pages.signedIn()).browser;
    const eveForm = hiddenOf(await eve.open(tool().path));
    const allow = { decision: 'allow' };
    const refused = [
      await browser.post(DECISION, { request, ...allow }),
      await browser.post(DECISION, { csrf: eveForm['csrf'] ?? '', request, ...allow }),
      await browser.post(DECISION, { csrf, request, ...allow }, { origin: 'https://evil.example' }),
      await browser.post(DECISION, { csrf, request, ...allow }, { 'sec-fetch-site': 'cross-site' }),
      await browser.post(DECISION, { csrf, request: eveForm['request'] ?? '', ...allow }),
      await eve.post(DECISION, { ...eveForm, request, ...allow }),
      await browser.post(DECISION, { csrf, request, decision: 'maybe' }),
      await eve.get(`${DECISION}?request=${request}`),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      [403, 403, 403, 403, 400, 400, 400, 400],
    );
    assert.equal((await decide(browser, page)).status, 303);
    assert.equal((await decide(browser, page)).status, 400, 'a decision is made once');
  });

  it('keeps two tools at once apart, also in one browser', async () => {
    const { browser } = await pages.signedIn();
    const [a, b] = [
      tool({ name: 'wts on a', port: '2001', state: 'a' }),
      tool({ name: 'wts on b', port: '2002', state: 'b' }),
    ];
    const [pageA, pageB] = [await browser.open(a.path), await browser.open(b.path)];
    const [answerB, answerA] = [await decide(browser, pageB), await decide(browser, pageA)];
    assert.deepEqual(
      [
        answerA.to?.port,
        answerA.to?.searchParams.get('state'),
        answerB.to?.port,
        answerB.to?.searchParams.get('state'),
      ],
      ['2001', 'a', '2002', 'b'],
    );
    assert.equal(await refusalOf({ code: codeOf(answerB), verifier: a.verifier }), 'invalid_grant');
    assert.equal((await exchange({ code: codeOf(answerA), verifier: a.verifier })).body.key.label, 'wts on a');
  });

  it('shows the name of a tool without characters that hide or reorder words, and as no markup [authentication.connect.page]', async () => {
    const { browser } = await pages.signedIn();
    const name = `\u202Ew\u200Bt\u00ADs on <script>alert(1)</script>\u0007\u2066`;
    const { verifier, path } = tool({ name });
    const page = await browser.open(path);
    assert.match(page.text, /Connect <bdi>wts on &lt;script&gt;alert\(1\)&lt;\/script&gt;<\/bdi>/);
    const { key } = (await exchange({ code: codeOf(await decide(browser, page)), verifier })).body;
    assert.equal(key.label, 'wts on <script>alert(1)</script>');
    for (const empty of [null, '', '   ', '\u200B\u2060', '\u3164'])
      assert.equal((await browser.open(tool({ name: empty }).path)).status, 400);
    const long = tool({ name: 'é'.repeat(500) });
    const code = codeOf(await decide(browser, await browser.open(long.path)));
    assert.equal([...(await exchange({ code, verifier: long.verifier })).body.key.label].length, 100);
  });

  it('shares nothing when the person cancels, and lets the person use another account', async () => {
    const { browser } = await pages.signedIn();
    const denied = await decide(browser, await browser.open(tool().path), { decision: 'deny' });
    assert.deepEqual(Object.fromEntries(denied.to!.searchParams), { error: 'access_denied', state: 'a-state' });
    const copied = tool({ port: null, state: null });
    assert.match(
      (await decide(browser, await browser.open(copied.path), { decision: 'deny' })).text,
      /Nothing was shared/,
    );
    const other = await pages.account();
    const { to } = await decide(browser, await browser.open(tool().path), { decision: 'switch' });
    const signedIn = await browser.submit(to!.href.slice(pages.issuer.length), { ...other });
    const page = await browser.open(signedIn.to!.href.slice(pages.issuer.length));
    assert.ok(page.text.includes(other.email));
    assert.ok((await decide(browser, page)).to?.searchParams.has('code'));
  });

  it('is a page that is not framed, not stored, runs no script and leads to this site and the tool alone [authentication.pages.closed]', async () => {
    const { browser } = await pages.signedIn();
    const page = await browser.open(tool().path);
    const answers = [
      page,
      await browser.get(tool().path),
      await browser.get('/account/connect'),
      await decide(browser, page),
    ];
    for (const { headers, text } of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
        assert.ok(policy.includes(rule), policy);
      assert.deepEqual(
        ['x-frame-options', 'referrer-policy', 'cache-control'].map((name) => headers.get(name)),
        ['DENY', 'no-referrer', 'no-store'],
      );
      assert.ok(!/<script|style=|onclick/.test(text));
    }
    assert.match(page.headers.get('content-security-policy') ?? '', /form-action 'self' http:\/\/127\.0\.0\.1:49152;/);
  });

  it('revokes the key of a tool that signs out, also one that can only read in one workspace, and answers the same for any other token [authentication.connect.sign-out]', async () => {
    const { code, verifier } = await allowed({ access: 'read-only' });
    const { key } = (await exchange({ code, verifier })).body;
    const end = async (token: string): Promise<unknown> => {
      const { status, text } = await pages.testService.call(SERVICE, connectApi.endKey, { body: { token } });
      return [status, text];
    };
    const published = await pages.testService.backends.revocations();
    const answer = await end(key.token);
    assert.deepEqual(answer, [200, '{"ok":true}']);
    assert.deepEqual(await published.next(), { kind: 'credential', credentialId: key.id, userId: key.userId });
    assert.ok(!((await pages.testService.resolveKey(key.token)) !== null));
    for (const other of [key.token, 'x', `${key.token.slice(0, -1)}!`]) assert.deepEqual(await end(other), answer);
  });

  it('stores at most 20 codes of a person, the newest [never.unbounded]', async () => {
    const { browser } = await pages.signedIn();
    const { path, verifier } = tool();
    const give = async (): Promise<string> => codeOf(await decide(browser, await browser.open(path)));
    const oldest = await give();
    await sql(
      `insert into auth.connect_codes (hash, user_id, session_id, challenge, label, permissions, expires_at, created_at)
        select sha256(hash || convert_to(n::text, 'UTF8')), user_id, session_id, challenge, label, permissions, expires_at,
          created_at + n * interval '1 microsecond'
        from auth.connect_codes, generate_series(1, $2::int) n where hash = sha256(convert_to($1, 'UTF8'))`,
      [oldest, AUTH_LIMITS.connectCodesPerPersonMax - 1],
    );
    const newest = await give();
    assert.equal(await refusalOf({ code: oldest, verifier }), 'invalid_grant');
    assert.equal((await exchange({ code: newest, verifier })).status, 201);
  });

  it('makes no more keys than a person may have, and says so to the tool', async () => {
    const { code, verifier } = await allowed();
    await sql(
      `insert into auth.api_keys (id, user_id, label, key_prefix, token_hash, permissions, created_at)
        select gen_random_uuid(), user_id, 'k', 'wts_', sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'read-only', now() - interval '1 hour'
        from auth.connect_codes, generate_series(1, 100) where hash = sha256(convert_to($1, 'UTF8'))`,
      [code],
    );
    const { status, message } = await exchange({ code, verifier });
    assert.equal(status, 409);
    assert.match(message ?? '', /at most 100 API keys/);
  });
});
