import { eventually, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserSystem } from './browser-system.ts';
import { Tab } from './console-browser.ts';
import type { IdentityProvider } from './identity-provider.ts';

/** An app on this machine, which listens for the answer of the consent. */
export interface App {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
  /** Where the app sends the browser. */
  readonly address: string;
}

/** The pages of {auth_url} of a whole system in a real browser, with an identity provider and an app. */
export class PeopleBrowser {
  readonly testSystem: TestSystem;
  readonly provider: IdentityProvider;
  /** What the app got, in order. */
  readonly answers: URLSearchParams[] = [];
  readonly #system: BrowserSystem;
  readonly #app: Server;

  private constructor(system: BrowserSystem) {
    this.testSystem = system.testSystem;
    this.provider = system.provider;
    this.#system = system;
    this.#app = createServer((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://app');
      if (pathname === '/callback') this.answers.push(searchParams);
      res.writeHead(200, { 'content-type': 'text/html' }).end('<title>App</title><p>You can close this page.</p>');
    });
  }

  static async open(system: BrowserSystem): Promise<PeopleBrowser> {
    const people = new PeopleBrowser(system);
    await once(people.#app.listen(0, '127.0.0.1'), 'listening');
    return people;
  }

  close(): void {
    this.#app.close();
  }

  /**
   * A page in a profile of its own, at a path of the authorization origin. `passkeyBrowser` is that of a test that simulates an
   * authenticator; tabs of other tests know no passkeys.
   */
  async tab(path: string, passkeyBrowser?: Browser): Promise<Tab> {
    const script = passkeyBrowser === undefined ? 'delete window.PublicKeyCredential' : '';
    return Tab.open(passkeyBrowser ?? this.#system.browser, this.testSystem.authUrl, path, { script });
  }

  /** The link in the newest mail to an address with these words in its subject; waits for it. */
  async mailedLink(address: string, words: string): Promise<string> {
    const { mails } = this.#system.mail;
    const mail = await eventually(() => mails.findLast(({ to, subject }) => to === address && subject.includes(words)));
    return mail.links[0] ?? '';
  }

  /** Registers an app by RFC 7591, which then begins an authorization. */
  async app(
    name: string,
    redirectUri = `http://127.0.0.1:${(this.#app.address() as AddressInfo).port}/callback`,
  ): Promise<App> {
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

/** Fills in the sign-in form and sends it. */
export async function signIn({ page }: Tab, { email, password }: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
