import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { openServer } from './open-server.ts';
import { openTestPages, type TestPages } from './people.ts';
import { openProviderStandIn, signForeign, type ProviderStandIn } from './provider-stand-in.ts';
import type { Answer, TestBrowser } from '@wts/testkit';

const SLOW_MS = 6_000;

describe('the sign-in at an identity provider', () => {
  let pages: TestPages;
  let provider: ProviderStandIn;
  const settings = (): Record<string, string> => ({
    OIDC_PROVIDER: JSON.stringify({
      issuer: provider.issuer,
      clientId: 'wts',
      clientSecret: 'a secret',
      name: 'Example & Co',
    }),
  });
  before(async () => {
    provider = await openProviderStandIn();
    pages = await openTestPages(settings());
  });
  after(async () => {
    await pages.testService.service.close();
    await provider[Symbol.asyncDispose]();
  });
  afterEach(() => {
    provider.change = (claims) => claims;
    provider.replaced.clear();
  });

  const begin = async (browser: TestBrowser, query = ''): Promise<URL> => {
    const answer = await browser.get(`/sign-in/provider${query}`);
    assert.equal(answer.status, 303, answer.text);
    return answer.to!;
  };
  const signIn = async (browser: TestBrowser, subject: string): Promise<Answer> =>
    browser.get(provider.leadBack(await begin(browser), subject));
  const personOf = async (subject: string): Promise<unknown> => {
    const sql = `select user_id from auth.identities where issuer = $1 and subject = $2`;
    return (await pages.testService.backends.sql(sql, [provider.issuer, subject]))[0]?.['user_id'];
  };

  it('uses code, PKCE, state and nonce, and finds the person by issuer and subject [authentication.provider.sign-in]', async () => {
    const subject = randomUUID();
    const browser = pages.browser();
    assert.match((await browser.get('/sign-in')).text, /Sign in with Example &amp; Co/);
    const to = await begin(browser);
    const { searchParams } = to;
    assert.deepEqual(
      [searchParams.get('response_type'), searchParams.get('code_challenge_method'), searchParams.get('scope')],
      ['code', 'S256', 'openid profile email'],
    );
    const { status, to: home } = await browser.get(provider.leadBack(to, subject));
    assert.deepEqual([status, home?.href], [303, `${pages.issuer}/account`]);
    const verifier = provider.forms.at(-1)?.get('code_verifier') ?? '';
    assert.equal(createHash('sha256').update(verifier).digest('base64url'), searchParams.get('code_challenge'));
    const page = await browser.get('/account');
    assert.ok(page.text.includes(`Person ${subject}`) && !page.text.includes('type="password"'));
    const person = await personOf(subject);
    assert.equal((await signIn(pages.browser(), subject)).status, 303);
    assert.equal(await personOf(subject), person);
    const resolved = await pages.testService.person();
    assert.notEqual(resolved.userId, person);
  });

  it('keeps what the person was doing, also when the service restarts meanwhile', async () => {
    const browser = pages.browser();
    const code = randomUUID();
    const to = await begin(browser, `?invitation=${code}`);
    const other = await openTestPages(settings());
    const elsewhere = other.browser();
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
    const answer = await elsewhere.get(provider.leadBack(to, randomUUID()));
    assert.equal(answer.to?.href, `${pages.issuer}/join?code=${code}`);
    await other.testService.service.close();
  });

  it('is ended only by the browser that began it, and once [authentication.provider.faults]', async () => {
    const browser = pages.browser();
    const back = provider.leadBack(await begin(browser), randomUUID());
    const victim = pages.browser();
    for (const path of [back, '/sign-in/callback', '/sign-in/callback?code=x&state=y', `${back}&state=z`]) {
      const answer = await victim.get(path);
      assert.equal(answer.status, 400, path);
      assert.match(answer.text, /began in another browser/);
    }
    assert.equal((await browser.get(back)).status, 303);
    assert.equal((await browser.get(back)).status, 400);
  });

  it('refuses wrong answers of a provider, and signs no person in [authentication.provider.faults]', async () => {
    const now = Math.floor(Date.now() / 1000);
    const wrong: Record<string, (claims: Record<string, unknown>) => Record<string, unknown>> = {
      issuer: (claims) => ({ ...claims, iss: 'https://other.example' }),
      audience: (claims) => ({ ...claims, aud: 'other' }),
      nonce: (claims) => ({ ...claims, nonce: 'x' }),
      'no nonce': (claims) => ({ ...claims, nonce: undefined }),
      expiry: (claims) => ({ ...claims, exp: now - 120 }),
      'no subject': (claims) => ({ ...claims, sub: undefined }),
      'an empty subject': (claims) => ({ ...claims, sub: '' }),
      'a subject that no token at the API may have': (claims) => ({ ...claims, sub: 's'.repeat(300) }),
      'the time of the future': (claims) => ({ ...claims, iat: 100_000_000_000 }),
      key: (claims) => ({ forged: signForeign(claims) }),
      signature: () => ({ forged: 'eyJhbGciOiJub25lIn0.e30.' }),
    };
    for (const [name, change] of Object.entries(wrong)) {
      provider.change = change;
      const browser = pages.browser();
      const answer = await signIn(browser, randomUUID());
      assert.equal(answer.status, 503, name);
      assert.match(answer.text, /sign-in at Example &amp; Co does not work/);
      assert.equal((await browser.get('/account')).status, 303, name);
    }
  });

  it('leads to no server of the private network by its metadata [never.non-public-address]', async () => {
    let requests = 0;
    await using inside = await openServer((_, res) => {
      requests += 1;
      res.end('{}');
    });
    const metadata = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as object;
    const places = [{ token_endpoint: `${inside.url}/token` }, { jwks_uri: inside.url.replace('http:', 'https:') }];
    for (const place of places) {
      const fresh = await openTestPages(settings());
      provider.replaced.set('/.well-known/openid-configuration', (res) => {
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...metadata, ...place }));
      });
      const browser = fresh.browser();
      const to = (await browser.get('/sign-in/provider')).to!;
      assert.equal((await browser.get(provider.leadBack(to, randomUUID()))).status, 503, JSON.stringify(place));
      await fresh.testService.service.close();
    }
    assert.equal(requests, 0);
  });

  it('shows a page when the provider refuses the person [authentication.provider.faults]', async () => {
    const browser = pages.browser();
    const state = (await begin(browser)).searchParams.get('state') ?? '';
    const answer = await browser.get(
      `/sign-in/callback?${new URLSearchParams({ error: 'access_denied', state }).toString()}`,
    );
    assert.equal(answer.status, 403);
    assert.match(answer.text, /did not sign you in/);
  });

  it('shows a page within seconds when the provider is down, slow or answers nonsense [authentication.provider.faults]', async () => {
    const faults: Record<string, (res: ServerResponse) => void> = {
      slow: (res) => void setTimeout(() => res.end(), 2 * SLOW_MS).unref(),
      dripping: (res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        const dripping = setInterval(() => res.write(' '), 100);
        res.once('close', () => clearInterval(dripping));
      },
      huge: (res) =>
        void res.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(1024 * 1024)}"`),
      html: (res) => void res.end('<p>hello'),
      error: (res) => void res.writeHead(500).end(),
      redirect: (res) => void res.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      closed: (res) => void res.destroy(),
    };
    const afterwards = async (name: string, fault: (res: ServerResponse) => void): Promise<void> => {
      const browser = pages.browser();
      const to = await begin(browser);
      provider.replaced.set('/token', fault);
      const startedAt = performance.now();
      assert.equal((await browser.get(provider.leadBack(to, randomUUID()))).status, 503, name);
      assert.ok(performance.now() - startedAt < SLOW_MS, name);
    };
    const before = async (name: string, fault: (res: ServerResponse) => void): Promise<void> => {
      const fresh = await openTestPages(settings());
      provider.replaced.set('/.well-known/openid-configuration', fault);
      assert.equal((await fresh.browser().get('/sign-in/provider')).status, 503, name);
      provider.replaced.delete('/.well-known/openid-configuration');
      assert.equal((await fresh.browser().get('/sign-in/provider')).status, 303, 'a failed discovery is tried again');
      await fresh.testService.service.close();
    };
    const { slow, dripping, ...quick } = faults;
    for (const [name, fault] of Object.entries(quick)) {
      await afterwards(name, fault);
      await before(name, fault);
    }
    assert.ok(slow && dripping);
    await Promise.all([afterwards('slow', slow), before('dripping', dripping)]);
  });
});
