import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { openTestPages, type TestPages } from './people.ts';
import { hiddenOf } from '@wts/testkit';

const REDIRECT_URI = 'http://127.0.0.1:8976/callback';

describe('a client of another author (oauth4webapi)', () => {
  let pages: TestPages;
  before(async () => (pages = await openTestPages()));
  after(() => pages.testService.service.close());

  for (const method of ['none', 'client_secret_basic', 'client_secret_post'] as const satisfies Method[]) {
    it(`finds the server, registers with ${method}, gets tokens with the consent of a person, and refreshes them`, async () => {
      const { issuer, testService } = pages;
      // The public address leads to the gateway, so the client calls the service instead.
      const call = (address: string, init: object): Promise<Response> =>
        fetch(address.replace(issuer, testService.service.url), init);
      const options = { [oauth.customFetch]: call };

      const resource = new URL(`${issuer}/mcp`);
      const described = await oauth.resourceDiscoveryRequest(resource, options);
      const { authorization_servers: [named = ''] = [] } = await oauth.processResourceDiscoveryResponse(
        resource,
        described,
      );
      const discovery = await oauth.discoveryRequest(new URL(named), { algorithm: 'oauth2', ...options });
      const server = await oauth.processDiscoveryResponse(new URL(named), discovery);
      const { client, authentication } = await register(server, method, options);
      const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
      const request = new URL(String(server.authorization_endpoint));
      request.search = new URLSearchParams({
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: REDIRECT_URI,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        scope: 'read write',
        resource: resource.href,
        state,
      }).toString();
      const { browser } = await pages.signedIn();
      const consent = await browser.open(request.href.slice(issuer.length));
      const { to } = await browser.post('/consent', { ...hiddenOf(consent), decision: 'allow' });
      const parameters = oauth.validateAuthResponse(server, client, to as URL, state);

      const tokens = await oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          parameters,
          REDIRECT_URI,
          verifier,
          options,
        ),
      );
      const refresh = (token: string | undefined): Promise<Response> =>
        oauth.refreshTokenGrantRequest(server, client, authentication, String(token), options);
      const refreshed = await oauth.processRefreshTokenResponse(server, client, await refresh(tokens.refresh_token));
      for (const { access_token: token } of [tokens, refreshed]) {
        const sent = new Request(resource, { headers: { authorization: `Bearer ${token}` } });
        const claims = await oauth.validateJwtAccessToken(server, sent, resource.href, options);
        assert.deepEqual([claims.client_id, claims.scope], [client.client_id, 'read write']);
      }
      const replayed = oauth.processRefreshTokenResponse(server, client, await refresh(tokens.refresh_token));
      await assert.rejects(
        replayed,
        (error) => error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant',
      );
    });
  }
});

type Method = 'none' | 'client_secret_basic' | 'client_secret_post';

async function register(
  server: oauth.AuthorizationServer,
  method: Method,
  options: object,
): Promise<{ client: oauth.Client; authentication: oauth.ClientAuth }> {
  const metadata = {
    client_name: 'Notes',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: method,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  const reply = await oauth.dynamicClientRegistrationRequest(server, metadata, options);
  const client = await oauth.processDynamicClientRegistrationResponse(reply);
  const secret = client.client_secret as string;
  const authentications: Readonly<Record<Method, () => oauth.ClientAuth>> = {
    none: () => oauth.None(),
    client_secret_basic: () => oauth.ClientSecretBasic(secret),
    client_secret_post: () => oauth.ClientSecretPost(secret),
  };
  return { client, authentication: authentications[method]() };
}
