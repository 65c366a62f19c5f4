import { sessionOf } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { credentialApi, oauthApi } from '@wts/contracts';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { NO_VISITOR } from '../src/domain/security-event.ts';
import type { Grants } from '../src/oauth/grants.ts';
import { browserSession } from './browser-session.ts';
import { openTestGrants } from './store.ts';
import { openTestService, SERVICE, type TestService } from './test-service.ts';

describe('a grant', () => {
  const stack = new AsyncDisposableStack();
  let testService: TestService;
  let grants: Grants;
  let knex: Knex;
  before(async () => {
    testService = await openTestService();
    const log = createLogger({ name: 'test', level: 'warn' });
    const url = testService.backends.databaseUrl;
    ({ knex } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack }));
    grants = openTestGrants(knex);
  });
  after(() => stack.disposeAsync());

  const post = async (path: string, init: RequestInit): Promise<Record<string, unknown>> =>
    (await (await fetch(`${testService.service.url}${path}`, { method: 'POST', ...init })).json()) as never;

  it('is resolved until it is revoked; then every service gets a message, and finds it among the revoked credentials', async () => {
    const userId = randomUUID();
    const redirectUri = 'https://app.example.com/callback';
    const { client_id } = await post('/register', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' }),
    });
    const clientId = String(client_id);
    const verifier = 'v'.repeat(43);
    const granted = {
      userId,
      sessionId: await browserSession(knex, userId),
      clientId,
      clientName: null,
      scopes: ['read'],
      resources: ['https://api.example.com'],
      redirectUri,
      challenge: createHash('sha256').update(verifier).digest('base64url'),
      signedInAt: new Date(),
    } as const;
    const code = await grants.createWithCode(granted, NO_VISITOR);
    const form = {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: String(code),
      redirect_uri: redirectUri,
    };
    const exchange = () => post('/token', { body: new URLSearchParams({ ...form, code_verifier: verifier }) });
    const { access_token } = await exchange();
    const [, payload = ''] = String(access_token).split('.');
    const { gid: grantId } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { gid: string };
    const resolve = async (who = SERVICE) =>
      testService.call(who, oauthApi.internalResolveGrant, { body: { grantId } });
    assert.deepEqual((await resolve()).body.grant, { userId, clientId, scopes: ['read'], workspaceId: null });
    assert.notEqual((await resolve(sessionOf(userId))).status, 200);

    const list = (body: object) => testService.call(SERVICE, credentialApi.internalListRevokedCredentials, { body });
    const { at } = (await list({})).body;
    const revocations = await testService.backends.revocations();
    assert.equal((await exchange())['error'], 'invalid_grant');
    assert.deepEqual(await revocations.next(), { kind: 'credential', credentialId: grantId, userId });
    assert.equal((await resolve()).body.grant, null);
    const { credentials } = (await list({ since: at })).body;
    assert.deepEqual(
      credentials.map(({ id, userId: owner }) => [id, owner]),
      [[grantId, userId]],
    );
  });
});
