import jwt from 'jsonwebtoken';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { openServer } from './open-server.ts';

type Claims = Record<string, unknown>;

/** An OpenID provider under the control of a test: its answers can be wrong, slow and missing. */
export interface ProviderStandIn extends AsyncDisposable {
  readonly issuer: string;
  /** Changes the claims of the next ID token. */
  change: (claims: Claims) => Claims;
  /** Answers of these paths are replaced. */
  readonly replaced: Map<string, (res: ServerResponse) => void>;
  /** The forms that the token endpoint got. */
  readonly forms: URLSearchParams[];
  /** The address to which the provider leads the browser back. */
  leadBack(to: URL, subject: string): string;
}

const OTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** Signs with a key that the provider does not publish. */
export function signForeign(claims: Claims): string {
  return jwt.sign(claims, OTHER_KEY, { algorithm: 'RS256', keyid: 'k' });
}

export async function openProviderStandIn(): Promise<ProviderStandIn> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const sessions = new Map<
    string,
    { readonly subject: string; readonly nonce: string | null; readonly clientId: string | null }
  >();
  const json = (res: ServerResponse, body: object): void =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    const { issuer, replaced, change, forms } = standIn;
    const replacement = replaced.get(path);
    if (replacement !== undefined) return replacement(res);
    if (path === '/.well-known/openid-configuration') {
      return json(res, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
    if (path === '/jwks')
      return json(res, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] });
    const form = new URLSearchParams(await text(req));
    forms.push(form);
    const session = sessions.get(form.get('code') ?? '');
    const now = Math.floor(Date.now() / 1000);
    const claims = change({
      iss: issuer,
      aud: session?.clientId,
      sub: session?.subject,
      nonce: session?.nonce,
      iat: now,
      exp: now + 60,
      name: `Person ${session?.subject}`,
      email: `${session?.subject}@example.com`,
    });
    const idToken =
      typeof claims['forged'] === 'string'
        ? claims['forged']
        : jwt.sign(claims, privateKey, { algorithm: 'RS256', keyid: 'k' });
    return json(res, { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken });
  };
  const server = await openServer((req, res) => void answer(req, res));
  const standIn: ProviderStandIn = {
    issuer: server.url,
    change: (claims) => claims,
    replaced: new Map(),
    forms: [],
    leadBack: ({ searchParams }, subject) => {
      const code = randomUUID();
      sessions.set(code, { subject, nonce: searchParams.get('nonce'), clientId: searchParams.get('client_id') });
      return `/sign-in/callback?${new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString()}`;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return standIn;
}
