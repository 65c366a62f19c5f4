import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { OAuthSystem, REDIRECT_URI } from './oauth-system.ts';

describe('a client of another author (oauth4webapi)', () => {
  it('finds the server, registers, gets tokens and refreshes them', async () => {
    await using system = await OAuthSystem.open('client');
    const issuer = new URL(`http://127.0.0.1:${system.replicas[0]?.port}`);
    system.replicas.push(await system.start({ AUTH_URL: issuer.origin, PORT: '0' }));
    // The public address leads to the gateway, so the client calls this replica instead.
    const call = (address: string, init: object): Promise<Response> => {
      const url = new URL(address);
      return fetch(`${system.replicas[1]?.url}${url.pathname}${url.search}`, init);
    };
    // The issuer of this test has no TLS.
    // oxlint-disable-next-line typescript/no-deprecated
    const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: call } as const;
    const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
    const server = await oauth.processDiscoveryResponse(issuer, discovery);
    const registration = await oauth.dynamicClientRegistrationRequest(
      server,
      { redirect_uris: [REDIRECT_URI], grant_types: ['authorization_code', 'refresh_token'] },
      options,
    );
    const client = await oauth.processDynamicClientRegistrationResponse(registration);
    const authentication = oauth.ClientSecretBasic(client.client_secret as string);

    const { code, verifier, userId } = await system.code({ id: client.client_id, secret: undefined });
    const callback = new URL(`${REDIRECT_URI}?code=${code}&state=s&iss=${encodeURIComponent(issuer.origin)}`);
    const parameters = oauth.validateAuthResponse(server, client, callback, 's');
    const tokenReply = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      REDIRECT_URI,
      verifier,
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, tokenReply);
    assert.ok(tokens.refresh_token);
    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token, options),
    );
    const request = new Request('https://api.example.com/', {
      headers: { authorization: `Bearer ${refreshed.access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, 'https://api.example.com', options);
    assert.deepEqual([claims.sub, claims.scope], [userId, 'read write']);
    const replayed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      tokens.refresh_token,
      options,
    );
    await assert.rejects(
      oauth.processRefreshTokenResponse(server, client, replayed),
      (error) => error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant',
    );
  });
});
