import assert from 'node:assert/strict';
import { assertRefused, OAuthSystem, REDIRECT_URI } from './oauth-system.ts';

describe('the registration of a client', () => {
  let system: OAuthSystem;
  before(async () => (system = await OAuthSystem.open('register')));
  after(() => system[Symbol.asyncDispose]());

  const redirect_uris = [REDIRECT_URI];

  it('takes JSON of at most 16 KB', async () => {
    const post = (body: string, type = 'application/json') =>
      system.send('/register', { method: 'POST', headers: { 'content-type': type }, body });
    for (const [body, type] of [
      ['redirect_uris=https%3A%2F%2Fa.example', 'application/x-www-form-urlencoded'],
      ['{', 'application/json'],
      ['[]', 'application/json'],
      ['"text"', 'application/json'],
      ['{"redirect_uris":["https://a.example"],"redirect_uris":[]}', 'application/json'],
    ] as const) {
      assertRefused(await post(body, type), 'invalid_client_metadata');
    }
    assertRefused(await post(JSON.stringify({ redirect_uris, padding: 'x'.repeat(16 * 1024) })), 'payload_too_large');
  });

  it('needs 1 to 10 redirect URIs of the allowed kinds [authentication.oauth.register-fields]', async () => {
    for (const wrong of [
      undefined,
      [],
      'https://app.example.com',
      {},
      [7],
      [[REDIRECT_URI]],
      ['javascript:alert(1)'],
      ['https://app.example.com/#x'],
      ['http://app.example.com/'],
      [REDIRECT_URI, 'data:text/html,x'],
      Array.from({ length: 11 }, (_, at) => `https://app.example.com/${at}`),
    ]) {
      assertRefused(await system.register({ redirect_uris: wrong }), 'invalid_redirect_uri');
    }
    const ten = Array.from({ length: 10 }, (_, at) => `https://app.example.com/${at}`);
    assert.equal((await system.register({ redirect_uris: ten })).status, 201);
  });

  it('gives a confidential client a secret that does not expire, and a public one none [authentication.oauth.register]', async () => {
    for (const [token_endpoint_auth_method, registered] of [
      [undefined, 'client_secret_basic'],
      ['client_secret_basic', 'client_secret_basic'],
      ['client_secret_post', 'client_secret_post'],
      ['none', 'none'],
    ] as const) {
      const { status, body } = await system.register({ redirect_uris, token_endpoint_auth_method });
      assert.equal(status, 201);
      assert.equal(body['token_endpoint_auth_method'], registered);
      const isPublic = registered === 'none';
      assert.deepEqual(
        ['client_secret' in body, body['client_secret_expires_at']],
        [!isPublic, isPublic ? undefined : 0],
      );
    }
    for (const token_endpoint_auth_method of ['private_key_jwt', null, 7])
      assertRefused(await system.register({ redirect_uris, token_endpoint_auth_method }), 'invalid_client_metadata');
  });

  it('takes known grants and responses, and ignores unknown fields', async () => {
    for (const wrong of [
      { grant_types: ['password'] },
      { grant_types: ['authorization_code', 'client_credentials'] },
      { grant_types: 'authorization_code' },
      { response_types: ['token'] },
      { response_types: ['code', 'id_token'] },
      { application_type: 'browser' },
      { client_name: { en: 'x' } },
    ]) {
      assertRefused(await system.register({ redirect_uris, ...wrong }), 'invalid_client_metadata');
    }
    for (const application_type of ['web', 'native']) {
      const unknown = { client_id: 'mine', software_id: 'x', jwks: { keys: [] }, scope: 'admin' };
      const { status, body } = await system.register({ redirect_uris, application_type, ...unknown });
      assert.deepEqual([status, body['application_type']], [201, application_type]);
      assert.notEqual(body['client_id'], 'mine');
      assert.ok(!('scope' in body) && !('software_id' in body));
    }
  });

  it('answers with what is registered, defaults included', async () => {
    const { status, headers, body } = await system.register({ redirect_uris, token_endpoint_auth_method: 'none' });
    const { client_id, client_id_issued_at, ...rest } = body;
    assert.deepEqual([status, headers.get('cache-control')], [201, 'no-store']);
    assert.match(String(client_id), /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(Number(client_id_issued_at) - Date.now() / 1000) < 60);
    assert.deepEqual(rest, {
      redirect_uris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    });
  });

  it('stores a secret as a hash', async () => {
    const { secret } = await system.client({ token_endpoint_auth_method: 'client_secret_post' });
    const stored = JSON.stringify(await system.sql(`select c::text from auth.clients c`));
    assert.ok(secret !== undefined && !stored.includes(secret) && !stored.includes(secret.slice(5)));
  });

  it('cuts the name, and drops characters that hide or turn text', async () => {
    const { body } = await system.register({ redirect_uris, client_name: ` \u202eA\u0007<b>\u200b${'n'.repeat(200)}` });
    assert.equal(body['client_name'], `A<b>${'n'.repeat(96)}`);
    const { body: empty } = await system.register({ redirect_uris, client_name: ' \u202e ' });
    assert.ok(!('client_name' in empty));
  });
});
