import assert from 'node:assert/strict';
import { AUTH_URL, BASE_URL, OAuthSystem, readToken } from './oauth-system.ts';

describe('the documents of the authorization server', () => {
  let system: OAuthSystem;
  before(async () => (system = await OAuthSystem.open('metadata')));
  after(() => system[Symbol.asyncDispose]());

  it('describe it, and nothing that it does not offer [authentication.metadata.server, authentication.not-offered]', async () => {
    const { status, headers, body } = await system.send('/.well-known/oauth-authorization-server');
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.deepEqual(body, {
      issuer: AUTH_URL,
      authorization_endpoint: `${AUTH_URL}/authorize`,
      token_endpoint: `${AUTH_URL}/token`,
      registration_endpoint: `${AUTH_URL}/register`,
      jwks_uri: `${AUTH_URL}/jwks`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      scopes_supported: ['read', 'write'],
      authorization_response_iss_parameter_supported: true,
    });
    for (const path of ['/.well-known/openid-configuration', '/revoke', '/introspect', '/userinfo', '/device'])
      assert.equal((await system.send(path)).status, 404, path);
  });

  it('are before the path of an issuer that has one, with any number of segments', async () => {
    const path = '/some/deeper/sign-in';
    const server = `/.well-known/oauth-authorization-server${path}`;
    const mcp = `/.well-known/oauth-protected-resource${path}/mcp`;
    for (const document of [server, mcp]) assert.equal((await system.send(document)).status, 404);
    const replica = system.replicas.push(await system.start({ AUTH_URL: `https://example.com${path}/` })) - 1;
    const { body } = await system.send(server, {}, replica);
    const issuer = `https://example.com${path}`;
    assert.deepEqual([body['issuer'], body['token_endpoint']], [issuer, `${issuer}/token`]);
    const { body: resource } = await system.send(mcp, {}, replica);
    assert.deepEqual([resource['resource'], resource['authorization_servers']], [`${issuer}/mcp`, [issuer]]);
    for (const other of [`${server}/more`, '/.well-known/oauth-authorization-server/some', `${server}/`])
      assert.equal((await system.send(other, {}, replica)).status, 404, other);
  });

  it('name the resources and their server, with one issuer in all of them [authentication.metadata.resource, authentication.metadata.agree]', async () => {
    for (const [path, resource] of [
      ['/.well-known/oauth-protected-resource', BASE_URL],
      ['/.well-known/oauth-protected-resource/mcp', `${AUTH_URL}/mcp`],
    ] as const) {
      const { status, body } = await system.send(path);
      assert.equal(status, 200);
      assert.deepEqual(body, {
        resource,
        resource_name: 'Workspace Task Service',
        authorization_servers: [AUTH_URL],
        scopes_supported: ['read', 'write'],
        bearer_methods_supported: ['header'],
      });
    }
    const client = await system.client();
    const { claims } = readToken((await system.exchange(client, await system.code(client))).body['access_token']);
    assert.deepEqual([claims['iss'], claims['aud']], [AUTH_URL, [BASE_URL, `${AUTH_URL}/mcp`]]);
  });

  it('answer GET and HEAD, and refuse every other method', async () => {
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource', '/jwks']) {
      const head = await system.send(path, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers.get('cache-control')], [200, 'public, max-age=300']);
      const { status, headers } = await system.send(path, { method: 'POST' });
      assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD']);
    }
  });

  it('publish the public part of the keys only', async () => {
    const { body } = await system.send('/jwks');
    const [key, ...others] = body['keys'] as Record<string, unknown>[];
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(key ?? {}).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});
