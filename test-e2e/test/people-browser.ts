import { eventually, openBrowser, openMailCatcher, startTestSystem } from '@wts/testkit';
import type { MailCatcher, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Tab } from './console-browser.ts';
import { IdentityProvider, newKey, WEB_CLIENT } from './identity-provider.ts';

/** Long, because a browser is slow on a busy machine. */
const WAIT_MS = 120_000;
const WIDE = { width: 1100, height: 820 };

export type Browser = Awaited<ReturnType<typeof openBrowser>>;

interface TabOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** Of a test that simulates an authenticator. Tabs of other tests know no passkeys. */
  readonly passkeyBrowser?: Browser;
}

/** An app on this machine, which listens for the answer of the consent. */
export interface App {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
  /** Where the app sends the browser. */
  readonly address: string;
}

interface Parts {
  readonly testSystem: TestSystem;
  readonly provider: IdentityProvider;
  readonly mail: MailCatcher;
  readonly browser: Browser;
  readonly callback: string;
  readonly answers: URLSearchParams[];
}

/** The pages of {auth_url} of a whole system in a real browser, with an identity provider and an app. */
export class PeopleBrowser implements AsyncDisposable {
  readonly testSystem: TestSystem;
  readonly provider: IdentityProvider;
  /** What the app got, in order. */
  readonly answers: URLSearchParams[];
  readonly #parts: Parts;
  readonly #owned: AsyncDisposableStack;

  private constructor(parts: Parts, owned: AsyncDisposableStack) {
    this.testSystem = parts.testSystem;
    this.provider = parts.provider;
    this.answers = parts.answers;
    this.#parts = parts;
    this.#owned = owned;
  }

  /** Skips the test where there is no Chromium. */
  static async open(context: Mocha.Context): Promise<PeopleBrowser> {
    await using opening = new AsyncDisposableStack();
    const browser = await openBrowser(context);
    opening.defer(() => browser.close());
    const provider = opening.use(await IdentityProvider.plan([newKey('first')]));
    const { issuer } = provider;
    const JWT_ISSUERS = JSON.stringify([provider.configuration]);
    const OIDC_PROVIDER = JSON.stringify({ issuer, clientId: WEB_CLIENT, name: 'Example Corp' });
    const mail = opening.use(await openMailCatcher());
    const testSystem = opening.use(
      await startTestSystem({
        label: 'people',
        authHost: 'localhost',
        services: [],
        overrides: { gateway: { JWT_ISSUERS }, sync: { JWT_ISSUERS }, auth: { OIDC_PROVIDER, SMTP_URL: mail.smtpUrl } },
      }),
    );
    provider.webRedirect = `${testSystem.authUrl}/sign-in/callback`;
    await provider.start();
    const answers: URLSearchParams[] = [];
    const server = createServer((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://app');
      if (pathname === '/callback') answers.push(searchParams);
      res.writeHead(200, { 'content-type': 'text/html' }).end('<title>App</title><p>You can close this page.</p>');
    }).listen(0, '127.0.0.1');
    opening.defer(() => void server.close());
    await once(server, 'listening');
    const callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    return new PeopleBrowser({ testSystem, provider, mail, browser, callback, answers }, opening.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  /** A page in a profile of its own, at a path of the authorization origin. */
  async tab(path: string, { viewport = WIDE, colorScheme = 'light', passkeyBrowser }: TabOptions = {}): Promise<Tab> {
    const browser = passkeyBrowser ?? this.#parts.browser;
    const profile = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
    const page = await profile.newPage();
    page.setDefaultTimeout(WAIT_MS);
    if (passkeyBrowser === undefined) await page.addInitScript({ content: 'delete window.PublicKeyCredential' });
    const tab = new Tab(page, this.testSystem.authUrl);
    await page.goto(path.startsWith('http') ? path : `${this.testSystem.authUrl}${path}`);
    return tab;
  }

  /** The link in the newest mail to an address with these words in its subject; waits for it. */
  async mailedLink(address: string, words: string): Promise<string> {
    const { mails } = this.#parts.mail;
    const mail = await eventually(() => mails.findLast(({ to, subject }) => to === address && subject.includes(words)));
    return mail.links[0] ?? '';
  }

  /** Registers an app by RFC 7591, which then begins an authorization. */
  async app(name: string, redirectUri = this.#parts.callback): Promise<App> {
    const response = await fetch(`${this.testSystem.authUrl}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: name,
        redirect_uris: [redirectUri.replace(/^(http:\/\/127\.0\.0\.1):\d+/, '$1')],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      }),
    });
    const text = await response.text();
    assert.equal(response.status, 201, text);
    const { client_id: clientId } = JSON.parse(text) as { client_id: string };
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      scope: 'read write',
      state: 'a state',
    });
    return { clientId, redirectUri, verifier, address: `${this.testSystem.authUrl}/authorize?${query.toString()}` };
  }

  /** On which an app or a command line waits for the browser. */
  get callbackPort(): string {
    return new URL(this.#parts.callback).port;
  }

  /** A command line exchanges its code for an API key. */
  async exchange(code: string, verifier: string): Promise<string> {
    const response = await fetch(`${this.testSystem.authUrl}/account/connect/key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, verifier }),
    });
    const text = await response.text();
    assert.equal(response.status, 201, text);
    return (JSON.parse(text) as { key: { token: string } }).key.token;
  }

  /** The app redeems the code that it got last. */
  async redeem({ clientId, redirectUri, verifier }: App): Promise<string> {
    const response = await fetch(`${this.testSystem.authUrl}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: this.answers.at(-1)?.get('code') ?? '',
        client_id: clientId,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return (JSON.parse(text) as { access_token: string }).access_token;
  }
}

/** Where a command line sends the person; without a port the page shows the code. */
export function connectAddress(verifier: string, port?: string): string {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const callback = port === undefined ? {} : { port, state: 'a-state' };
  const query = { name: 'wts on laptop', access: 'full-access', challenge, ...callback };
  return `/account/connect?${new URLSearchParams(query).toString()}`;
}

/** Fills in the sign-in form and sends it. */
export async function signIn({ page }: Tab, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
