import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import { request } from 'undici';

const CLIENT = 'app';
const REDIRECT = 'http://127.0.0.1/signed-in';

/** A key for signing, as the provider takes it. */
export function newKey(kid: string): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

/**
 * A real OpenID provider at one address, which can go away, come back and change its keys. People sign in through the
 * authorization code flow with PKCE; whoever they say they are is believed.
 */
export class IdentityProvider implements AsyncDisposable {
  readonly issuer: string;
  readonly audience = 'https://api.example.com';
  readonly #port: number;
  #keys: readonly JWK[];
  #server: Server | null = null;

  private constructor(port: number, keys: readonly JWK[]) {
    this.#port = port;
    this.#keys = keys;
    this.issuer = `http://127.0.0.1:${port}`;
  }

  /** Has its address, and does not answer there yet. */
  static async plan(keys: readonly JWK[]): Promise<IdentityProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return new IdentityProvider(port, keys);
  }

  /** What the services are told of it. */
  get configuration(): object {
    const { issuer, audience } = this;
    return { issuer, audiences: [audience], algorithms: ['RS256'], types: ['at+jwt'], jwksUri: `${issuer}/jwks` };
  }

  /** The first key signs; all are published. */
  async start(keys: readonly JWK[] = this.#keys): Promise<void> {
    await this.stop();
    this.#keys = keys;
    const provider = this.#provider(keys);
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

  /** Signs somebody in, as a browser and an app would, and gives the access token. */
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
      // A provider that was away has forgotten its connections.
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

  /** Follows redirects with the cookies given on the way, until one leads back to the app with a code. */
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
    throw new Error('the sign-in goes round in circles');
  }

  #provider(keys: readonly JWK[]): Provider {
    return new Provider(this.issuer, {
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
      ],
      scopes: ['openid', 'api'],
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
      findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
      extraTokenClaims: (_context, token) => {
        const { accountId = '' } = token as { accountId?: string };
        return { name: `Person ${accountId}`, email: `${accountId}@example.com`, email_verified: true };
      },
    });
  }
}

/** Answers every question of the provider with yes. */
async function agree(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') {
    await provider.interactionFinished(req, res, { login: { accountId: String(params['login_hint']) } });
    return;
  }
  const accountId = session?.accountId ?? '';
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ accountId, clientId: CLIENT });
  grant.addOIDCScope('openid api');
  grant.addResourceScope(String(params['resource']), 'api');
  await provider.interactionFinished(
    req,
    res,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}
