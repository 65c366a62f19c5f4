import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientMetadata, JWK, Provider } from 'oidc-provider';
import { request } from 'undici';

const CLIENT = 'app';
/** The client of the sign-in page, and the person who signs in there. */
export const WEB_CLIENT = 'web';
export const WEB_SUBJECT = 'walter';
const REDIRECT = 'http://127.0.0.1/signed-in';

/** A signing key in the format of the provider. */
export function newKey(kid: string): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

/**
 * A real OpenID provider at one address, which can stop, start and change its keys. People sign in through the authorization
 * code flow with PKCE. The provider accepts any subject.
 */
export class IdentityProvider implements AsyncDisposable {
  readonly issuer: string;
  readonly audience = 'https://api.example.com';
  /** Where the sign-in page of the system gets its people back; set before `start`. */
  webRedirect: string | null = null;
  readonly #port: number;
  #keys: readonly JWK[];
  #server: Server | null = null;

  private constructor(port: number, keys: readonly JWK[]) {
    this.#port = port;
    this.#keys = keys;
    this.issuer = `http://127.0.0.1:${port}`;
  }

  /** Reserves the address. The provider does not run yet. */
  static async plan(keys: readonly JWK[]): Promise<IdentityProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return new IdentityProvider(port, keys);
  }

  /** The setting of the services for this provider. */
  get configuration(): object {
    const { issuer, audience } = this;
    return { issuer, audiences: [audience], algorithms: ['RS256'], types: ['at+jwt'], jwksUri: `${issuer}/jwks` };
  }

  /** Signs with the first key and publishes all. */
  async start(keys: readonly JWK[] = this.#keys): Promise<void> {
    await this.stop();
    this.#keys = keys;
    const provider = await this.#provider(keys);
    const callback = provider.callback();
    this.#server = createServer((req, res) => {
      if (req.url?.startsWith('/interaction/')) void agree(provider, req, res);
      else void callback(req, res);
    }).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** Signs a person in as a browser and an app do. Resolves to the access token. */
  async signIn(subject: string): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({
      client_id: CLIENT,
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: 'openid api',
      resource: this.audience,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      login_hint: subject,
    });
    const code = await this.#follow(`${this.issuer}/auth?${query.toString()}`);
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: CLIENT,
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    });
    const { body } = await request(`${this.issuer}/token`, {
      method: 'POST',
      // A restarted provider has closed its connections.
      reset: true,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    });
    const reply = (await body.json()) as { access_token?: string };
    if (reply.access_token === undefined) throw new Error(`no token: ${JSON.stringify(reply)}`);
    return reply.access_token;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Follows redirects, with cookies, until one goes to the app. Resolves to the code in it. */
  async #follow(start: string): Promise<string> {
    const cookies = new Map<string, string>();
    let at = start;
    for (let hop = 0; hop < 10; hop += 1) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const { statusCode, headers, body } = await request(at, { headers: { cookie }, reset: true });
      const text = await body.text();
      for (const line of [headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const { location } = headers;
      if (typeof location !== 'string') throw new Error(`sign-in ended with ${statusCode}: ${text.slice(0, 300)}`);
      at = new URL(location, at).href;
      if (at.startsWith(REDIRECT)) return new URL(at).searchParams.get('code') ?? '';
    }
    throw new Error('the sign-in had too many redirects');
  }

  async #provider(keys: readonly JWK[]): Promise<Provider> {
    // Only here, because most files that plan one never start it.
    const oidc = await import('oidc-provider');
    return new oidc.Provider(this.issuer, {
      jwks: { keys: [...keys] },
      clients: [
        {
          client_id: CLIENT,
          token_endpoint_auth_method: 'none',
          application_type: 'native',
          redirect_uris: [REDIRECT],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
        ...(this.webRedirect === null ? [] : [webClient(this.webRedirect)]),
      ],
      scopes: ['openid', 'api', 'profile', 'email'],
      claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
      cookies: { keys: ['of a test'] },
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: 'api',
            audience: this.audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
          useGrantedResource: () => true,
        },
      },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, ...profileOf(accountId) }),
      }),
      extraTokenClaims: (_context, token) => {
        const { accountId = '' } = token as { accountId?: string };
        return profileOf(accountId);
      },
    });
  }
}

function profileOf(accountId: string): { name: string; email: string; email_verified: boolean } {
  return { name: `Person ${accountId}`, email: `${accountId}@example.com`, email_verified: true };
}

function webClient(redirectUri: string): ClientMetadata {
  return {
    client_id: WEB_CLIENT,
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
    response_types: ['code'],
  };
}

/** Confirms every prompt of the provider. */
async function agree(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') {
    const hint = params['login_hint'];
    const accountId = typeof hint === 'string' ? hint : WEB_SUBJECT;
    await provider.interactionFinished(req, res, { login: { accountId } });
    return;
  }
  const accountId = session?.accountId ?? '';
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = existing ?? new provider.Grant({ accountId, clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope']));
  if (typeof params['resource'] === 'string') grant.addResourceScope(params['resource'], 'api');
  await provider.interactionFinished(
    req,
    res,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}
