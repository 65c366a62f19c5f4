/** An app that a person allows to act for them: an OAuth client, which gets its tokens as any client does. */
import { connectTo } from '@wts/local';
import { createHash, randomBytes, randomUUID } from 'node:crypto';

export interface AppTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** The credential of all access tokens of this consent. */
  readonly grantId: string;
  readonly clientId: string;
}

interface Place {
  readonly authUrl: string;
  /** Where the browser session of the person is created. */
  readonly databaseUrl: string;
}

interface AppRequest {
  readonly userId: string;
  readonly scope: string;
  readonly resource?: string | undefined;
}

const REDIRECT_URI = 'http://127.0.0.1:1024/callback';

/**
 * Registers a client, lets a signed-in person allow it on the consent page, and redeems the code. Only the sign-in is replaced by a
 * session in the database, because it takes half a second of a core.
 */
export async function allowApp(
  { authUrl, databaseUrl }: Place,
  { userId, scope, resource }: AppRequest,
): Promise<AppTokens> {
  const clientId = await register(authUrl);
  const verifier = randomBytes(32).toString('base64url');
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(resource === undefined ? {} : { resource }),
  });
  const answer = await consentTo({ authUrl, databaseUrl }, userId, new URL(`/authorize?${asked.toString()}`, authUrl));
  const code = answer.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${answer.href}`);
  const reply = await post(`${authUrl}/token`, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    client_id: clientId,
    code_verifier: verifier,
  });
  const tokens = (await reply.json()) as { access_token?: string; refresh_token?: string };
  const { access_token: accessToken, refresh_token: refreshToken } = tokens;
  if (accessToken === undefined || refreshToken === undefined) throw new Error(`no tokens: ${JSON.stringify(tokens)}`);
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
    gid: string;
  };
  return { accessToken, refreshToken, grantId: claims.gid, clientId };
}

async function register(authUrl: string): Promise<string> {
  const response = await fetch(`${authUrl}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Test app',
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }),
  });
  const { client_id: clientId } = (await response.json()) as { client_id?: string };
  if (clientId === undefined) throw new Error(`/register answers ${response.status}`);
  return clientId;
}

/** The cookie of a browser in which the person is signed in. */
async function sessionOf(databaseUrl: string, userId: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await using client = await connectTo(databaseUrl);
  await client.query('insert into auth.sessions (id, secret_hash, user_id) values ($1, $2, $3)', [
    randomUUID(),
    createHash('sha256').update(secret).digest(),
    userId,
  ]);
  return `wts_session=${secret}`;
}

/** A signed-in person allows what an app asks for at this address. Returns the address to which the browser is sent back. */
export async function consentTo({ authUrl, databaseUrl }: Place, userId: string, asked: URL): Promise<URL> {
  const session = await sessionOf(databaseUrl, userId);
  const begun = await fetch(asked, { redirect: 'manual', headers: { cookie: session } });
  const browser = begun.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  const cookie = [session, ...browser].join('; ');
  const address = new URL(begun.headers.get('location') ?? '', authUrl);
  const page = await (await fetch(address, { headers: { cookie } })).text();
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)" ?\/?>/g)];
  const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
  const allowed = await post(`${authUrl}${address.pathname}`, { ...fields, decision: 'allow' }, { cookie });
  const answer = URL.parse(allowed.headers.get('location') ?? '');
  if (answer === null) throw new Error(`the consent answers ${allowed.status}: ${await allowed.text()}`);
  return answer;
}

/** The person revokes each app on their account page. */
export async function revokeApps({ authUrl, databaseUrl }: Place, userId: string): Promise<void> {
  const cookie = await sessionOf(databaseUrl, userId);
  const page = await (await fetch(`${authUrl}/account/apps`, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  for (const [, path = ''] of page.matchAll(/href="(\/account\/apps\/[^"]+)"/g)) {
    const { status } = await post(`${authUrl}${path}`, { csrf }, { cookie });
    if (status !== 303) throw new Error(`${path} answers ${status}`);
  }
}

function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}
