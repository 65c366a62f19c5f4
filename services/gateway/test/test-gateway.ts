import { createHash, createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { generateApiKey } from '@wts/access';
import type { GrantScope, Principal, Scope } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { freePort, tokenEnvironment } from '@wts/testkit';
import { gateway } from '../src/service.ts';
import { FakeService } from './fake-service.ts';

const JWT_SECRET = 'a-secret-of-the-identity-provider-of-the-test';
const ISSUER = 'https://id.example.com';
const AUDIENCE = 'https://api.example.com';
export const BASE_URL = 'http://localhost:4000';
export const AUTH_URL = 'http://localhost:4001';
const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const SIGNING_KEY = { ...signing.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' };

interface AccessToken {
  readonly token: string;
  readonly userId: string;
  readonly grantId: string;
}

/** A gateway with fake services behind it, over real sockets. */
export interface TestGateway {
  readonly service: RunningService;
  readonly api: number;
  readonly auth: number;
  readonly workspace: FakeService;
  readonly authService: FakeService;
  readonly sync: FakeService;
  readonly fullKey: string;
  readonly readKey: string;
  /** Every line the gateway has logged so far. */
  logs(): string;
  newKey(scopes: readonly Scope[]): { token: string; principal: Principal };
  forgetKey(token: string): void;
  jwt(claims?: Record<string, unknown>): string;
  /** An access token of a new grant. */
  accessToken(scopes: readonly GrantScope[], claims?: Record<string, unknown>): AccessToken;
  close(): Promise<void>;
}

export async function startTestGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  const workspace = await FakeService.start('workspace');
  const sync = await FakeService.start('sync');
  const authService = await FakeService.start('auth');
  const fakes = [workspace, sync, authService];
  authService.signingKeys.push(SIGNING_KEY);
  const lines: string[] = [];
  const auth = await freePort();
  const running = await startService(
    gateway,
    {
      HOST: '127.0.0.1',
      PORT: '0',
      AUTH_PORT: String(auth),
      WORKSPACE_SERVICE_URL: workspace.url,
      AUTH_SERVICE_URL: authService.url,
      SYNC_SERVICE_URL: sync.url,
      BASE_URL,
      AUTH_URL,
      // Nothing listens there: no test of the gateway needs it.
      WEBHOOK_DISPATCHER_SERVICE_URL: 'http://127.0.0.1:9',
      GRAPH_SERVICE_URL: 'http://127.0.0.1:9',
      AGENT_SERVICE_URL: 'http://127.0.0.1:9',
      // Nothing listens there: these tests must pass without NATS.
      NATS_URL: 'nats://127.0.0.1:9',
      ...tokenEnvironment('gateway'),
      LOG_LEVEL: 'debug',
      SHUTDOWN_GRACE_MS: '2000',
      JWT_ISSUERS: JSON.stringify([
        { issuer: ISSUER, audiences: [AUDIENCE], algorithms: ['HS256'], secret: JWT_SECRET },
      ]),
      ...env,
    },
    { logTo: { write: (line) => void lines.push(line) } },
  ).catch(async (failure: unknown) => {
    await Promise.all(fakes.map((fake) => fake.close()));
    throw failure;
  });

  const newKey: TestGateway['newKey'] = (scopes) => {
    const { token, hash } = generateApiKey('wts_');
    const principal: Principal = { userId: randomUUID(), scopes, credential: { kind: 'api_key', id: randomUUID() } };
    authService.keys.set(hash, principal);
    return { token, principal };
  };

  return {
    service: running,
    api: running.port,
    auth,
    workspace,
    authService,
    sync,
    fullKey: newKey(['read', 'write', 'admin']).token,
    readKey: newKey(['read']).token,
    logs: () => lines.join(''),
    newKey,
    forgetKey: (token) => void authService.keys.delete(createHash('sha256').update(token).digest('hex')),
    jwt: (claims = {}) => signJwt(claims),
    accessToken: (scopes, claims = {}) => newAccessToken(authService, scopes, claims),
    close: async () => {
      await running.close();
      await Promise.all(fakes.map((fake) => fake.close()));
    },
  };
}

function signJwt(claims: Record<string, unknown>): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: randomUUID(), iat: now, exp: now + 600, ...claims };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}`;
  return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`;
}

function newAccessToken(
  authService: FakeService,
  scopes: readonly GrantScope[],
  claims: Record<string, unknown>,
): AccessToken {
  const { sub: userId = randomUUID() } = claims as { readonly sub?: string };
  const grantId = randomUUID();
  authService.grants.set(grantId, { userId, clientId: 'client', scopes });
  const now = Math.floor(Date.now() / 1000);
  const token = signAccessToken({
    iss: AUTH_URL,
    aud: [BASE_URL, `${AUTH_URL}/mcp`],
    sub: userId,
    client_id: 'client',
    scope: scopes.join(' '),
    gid: grantId,
    iat: now,
    exp: now + 1800,
    ...claims,
  });
  return { token, userId, grantId };
}

function signAccessToken(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: signing.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
