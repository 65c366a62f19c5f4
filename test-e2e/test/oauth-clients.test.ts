import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  UnauthorizedError as ModernUnauthorized,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as LegacyUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { consentTo, eventually, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import * as openid from 'openid-client';
import { AuthorizationCode } from 'simple-oauth2';
import { MemoryProvider } from './memory-provider.ts';
import { sharedSystem } from './shared-system.ts';

const REDIRECT_URI = 'http://127.0.0.1:8977/callback';
const INFO = { name: 'wts-test', version: '1.0.0' };

/** Both generations of the SDK, by the same steps: what differs are the classes. */
const GENERATIONS = {
  'SDK 1 (2025)': { Client: LegacyClient, Transport: LegacyTransport, Unauthorized: LegacyUnauthorized },
  'SDK 2': { Client: ModernClient, Transport: ModernTransport, Unauthorized: ModernUnauthorized },
} as const;

describe('clients of other authors get and use tokens', () => {
  let system: TestSystem;
  before(async () => (system = await sharedSystem()));

  const allow = (asked: URL): Promise<URL> =>
    consentTo({ authUrl: system.authUrl, databaseUrl: system.database.authUrl }, system.userId, asked);

  for (const [generation, { Client, Transport, Unauthorized }] of Object.entries(GENERATIONS)) {
    it(`MCP ${generation}: finds the server from the address alone, registers, is allowed, calls tools, refreshes, and starts again after revocation [authentication.oauth.refresh, authentication.mcp.challenge]`, async () => {
      const provider = new MemoryProvider(REDIRECT_URI);
      const connect = async (): Promise<{ whoami: () => Promise<string>; close: () => Promise<void> }> => {
        const client = new Client(INFO);
        const transport = new Transport(new URL('/mcp', system.authUrl), { authProvider: provider as never });
        await client.connect(transport);
        const whoami = async (): Promise<string> =>
          JSON.stringify(await client.callTool({ name: 'whoami', arguments: {} }));
        return { whoami, close: () => client.close() };
      };
      await assert.rejects(connect(), Unauthorized);
      const answer = await allow(provider.asked());
      const redeeming = new Transport(new URL('/mcp', system.authUrl), { authProvider: provider as never });
      // The first generation takes the code only, and cannot check who answered.
      const { searchParams } = answer;
      await redeeming.finishAuth((Transport === LegacyTransport ? searchParams.get('code') : searchParams) as never);
      const first = await connect();
      assert.match(await first.whoami(), new RegExp(system.userId));

      const { access_token: before } = provider.stored();
      provider.spoilAccessToken();
      assert.match(await first.whoami(), new RegExp(system.userId));
      assert.notEqual(provider.stored().access_token, before);

      await system.revokeApps();
      await eventually(async () => {
        provider.forgetRequest();
        const ended = await first.whoami().then(
          () => null,
          (error: unknown) => error,
        );
        return ended instanceof Unauthorized || undefined;
      });
      // The client asks for consent again with the registration that it has.
      assert.equal(provider.asked().searchParams.get('client_id'), provider.clientId);
      await first.close();
    });
  }

  it('openid-client: discovers the server as plain OAuth 2.0, and its flow with PKCE and refresh runs', async () => {
    const { client_id: id } = await register('none');
    const config = await openid.discovery(new URL(system.authUrl), id, undefined, openid.None(), {
      algorithm: 'oauth2',
      // oxlint-disable-next-line typescript/no-deprecated -- marked so that it is noticed; the test system has no TLS
      execute: [openid.allowInsecureRequests],
    });
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const asked = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'read',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    });
    const tokens = await openid.authorizationCodeGrant(config, await allow(asked), { pkceCodeVerifier, expectedState });
    assert.equal(tokens.scope, 'read');
    const refreshed = await openid.refreshTokenGrant(config, String(tokens.refresh_token));
    assert.equal((await system.request(refreshed.access_token, 'GET', '/api/workspaces')).status, 200);
    await assert.rejects(
      openid.refreshTokenGrant(config, String(tokens.refresh_token)),
      (error) => error instanceof openid.ResponseBodyError && error.error === 'invalid_grant',
    );
    // The old refresh token was used twice, so all of the grant has ended.
    await eventually(
      async () => (await system.request(refreshed.access_token, 'GET', '/api/workspaces')).status === 401 || undefined,
    );
  });

  it('simple-oauth2: a client with a secret gets and refreshes tokens', async () => {
    const { client_id: id, client_secret: secret = '' } = await register('client_secret_basic');
    const client = new AuthorizationCode({
      client: { id, secret },
      auth: { tokenHost: system.authUrl, tokenPath: '/token', authorizePath: '/authorize' },
    });
    const verifier = openid.randomPKCECodeVerifier();
    const challenge = {
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    const asked = client.authorizeURL({ redirect_uri: REDIRECT_URI, scope: ['read', 'write'], ...challenge });
    const code = (await allow(new URL(asked))).searchParams.get('code') ?? '';
    const redemption = { code, redirect_uri: REDIRECT_URI, code_verifier: verifier };
    const token = await client.getToken(redemption);
    assert.equal(token.expired(), false);
    const { token: refreshed } = await token.refresh();
    const reply = await system.request(String(refreshed['access_token']), 'GET', '/api/workspaces');
    assert.equal(reply.status, 200);
  });

  async function register(method: string): Promise<{ client_id: string; client_secret?: string }> {
    const response = await fetch(`${system.authUrl}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Notes',
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: method,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      }),
    });
    return (await response.json()) as { client_id: string; client_secret?: string };
  }
});
