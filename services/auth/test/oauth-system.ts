import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { errorBodySchema, ERRORS, type ErrorCode, type GrantScope } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { rows } from '@wts/service-kit/postgres';
import { compile } from '@wts/service-kit/routes';
import { openWire, tokenEnvironment, type Wire } from '@wts/testkit';
import type { Knex } from 'knex';
import type { Grants } from '../src/oauth/grants.ts';
import { browserSession } from './browser-session.ts';
import { NO_VISITOR } from '../src/domain/security-event.ts';
import { authService } from '../src/service.ts';
import { openTestGrants, openTestStore } from './store.ts';

export const BASE_URL = 'https://api.example.com';
export const AUTH_URL = 'https://auth.example.com';
export const REDIRECT_URI = 'http://127.0.0.1:8976/callback';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TestClient {
  readonly id: string;
  readonly secret: string | undefined;
}

interface IssuedCode {
  readonly code: string;
  readonly verifier: string;
  readonly userId: string;
}

const checkError = compile(errorBodySchema, 'the error');

/** The auth service as a client of OAuth sees it: any number of replicas on a real PostgreSQL, behind a wire that a test can cut. */
export class OAuthSystem implements AsyncDisposable {
  readonly wire: Wire;
  readonly grants: Grants;
  readonly replicas: RunningService[] = [];
  readonly sql: (text: string) => Promise<unknown>;
  readonly #knex: Knex;
  readonly #stack: AsyncDisposableStack;
  readonly #settings: Record<string, string>;
  readonly #lines: string[] = [];

  private constructor(wire: Wire, knex: Knex, url: string, stack: AsyncDisposableStack) {
    this.wire = wire;
    this.grants = openTestGrants(knex);
    this.sql = (text) => rows(knex, text);
    this.#knex = knex;
    this.#stack = stack;
    this.#settings = {
      HOST: '127.0.0.1',
      LOG_LEVEL: 'trace',
      CHECK_REPLIES: 'on',
      ...tokenEnvironment('auth'),
      AUTH_SECRET_KEY: randomBytes(32).toString('base64'),
      DATABASE_URL: wire.through(url),
      NATS_URL: 'nats://127.0.0.1:9',
      SYNC_SERVICE_URL: 'http://127.0.0.1:9',
      WORKSPACE_SERVICE_URL: 'http://127.0.0.1:9',
      BASE_URL: `${BASE_URL}/`,
      AUTH_URL,
    };
  }

  static async open(label: string, replicas = 1): Promise<OAuthSystem> {
    const stack = new AsyncDisposableStack();
    const { knex, url } = stack.use(await openTestStore(label));
    const { hostname: host, port } = new URL(url);
    const wire = stack.use(await openWire({ host, port: Number(port) }));
    const system = new OAuthSystem(wire, knex, url, stack);
    for (let at = 0; at < replicas; at += 1) system.replicas.push(await system.start());
    return system;
  }

  async start(settings: Readonly<Record<string, string>> = {}): Promise<RunningService> {
    const env = { ...this.#settings, ...settings };
    return startService(authService, env, { logTo: { write: (line) => void this.#lines.push(line) } });
  }

  /** Every line that a replica has logged. */
  logs(): string {
    return this.#lines.join('');
  }

  async send(path: string, init: RequestInit = {}, replica = 0): Promise<Reply> {
    const response = await fetch(`${this.replicas[replica]?.url}${path}`, init);
    const text = await response.text();
    const body = text === '' ? {} : (JSON.parse(text) as Reply['body']);
    if (response.status >= 400) checkError(body);
    return { status: response.status, headers: response.headers, body };
  }

  register(metadata: unknown): Promise<Reply> {
    const headers = { 'content-type': 'application/json' };
    return this.send('/register', { method: 'POST', headers, body: JSON.stringify(metadata) });
  }

  async client(metadata: object = {}): Promise<TestClient> {
    const { status, body } = await this.register({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      ...metadata,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return { id: String(body['client_id']), secret: body['client_secret'] as string | undefined };
  }

  /** What the consent of a person gives a client. */
  async code(
    client: TestClient,
    { scopes = ['read', 'write'] as readonly GrantScope[], resources = [BASE_URL, `${AUTH_URL}/mcp`] } = {},
  ): Promise<IssuedCode> {
    const verifier = randomBytes(32).toString('base64url');
    const userId = randomUUID();
    const grant = {
      userId,
      sessionId: await browserSession(this.#knex, userId),
      clientId: client.id,
      clientName: null,
      scopes,
      resources,
      redirectUri: REDIRECT_URI,
      challenge: createHash('sha256').update(verifier).digest('base64url'),
      signedInAt: new Date(),
    };
    const code = await this.grants.createWithCode(grant, NO_VISITOR);
    return { code: String(code), verifier, userId };
  }

  token(
    form: Readonly<Record<string, string | undefined>>,
    headers: Readonly<Record<string, string>> = {},
    replica = 0,
  ): Promise<Reply> {
    const given = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.send('/token', { method: 'POST', headers, body: new URLSearchParams(given) }, replica);
  }

  exchange(
    client: TestClient,
    { code, verifier }: Pick<IssuedCode, 'code' | 'verifier'>,
    change: Readonly<Record<string, string | undefined>> = {},
    replica = 0,
  ): Promise<Reply> {
    const form = { code, redirect_uri: REDIRECT_URI, client_id: client.id, code_verifier: verifier, ...change };
    return this.token({ grant_type: 'authorization_code', client_secret: client.secret, ...form }, {}, replica);
  }

  refresh(
    client: TestClient,
    refreshToken: unknown,
    change: Readonly<Record<string, string | undefined>> = {},
    replica = 0,
  ): Promise<Reply> {
    const form = { client_id: client.id, refresh_token: String(refreshToken), client_secret: client.secret, ...change };
    return this.token({ grant_type: 'refresh_token', ...form }, {}, replica);
  }

  /** Whether a grant is in force, as verifiers find out. */
  async isInForce(userId: string): Promise<boolean> {
    return (await this.grants.listOf(userId)).length > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.close()));
    await this.#stack.disposeAsync();
  }
}

/** The claims and the header of a token, without a check of its signature. */
export function readToken(token: unknown): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header, claims] = String(token)
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString())
    .slice(0, 2)
    .map((text) => JSON.parse(text) as Record<string, unknown>);
  return { header: header ?? {}, claims: claims ?? {} };
}

export function assertRefused({ status, body }: Reply, code: ErrorCode): void {
  const row = ERRORS[code];
  assert.deepEqual([status, body['error'], body['code']], [row.status, row.error, code], JSON.stringify(body));
}
