import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { NO_VISITOR } from '../src/domain/security-event.ts';
import { assertRefused, AUTH_URL, BASE_URL, OAuthSystem, readToken, REDIRECT_URI } from './oauth-system.ts';
import type { Reply, TestClient } from './oauth-system.ts';

describe('the token endpoint', () => {
  let system: OAuthSystem;
  let client: TestClient;
  before(async () => {
    system = await OAuthSystem.open('token');
    client = await system.client();
  });
  after(() => system[Symbol.asyncDispose]());

  /** An exchanged code. */
  const granted = async (who = client): Promise<{ code: Awaited<ReturnType<OAuthSystem['code']>>; reply: Reply }> => {
    const code = await system.code(who);
    const reply = await system.exchange(who, code);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return { code, reply };
  };

  it('takes POST only', async () => {
    const { status, headers } = await system.send('/token?grant_type=refresh_token');
    assert.deepEqual([status, headers.get('allow')], [405, 'POST']);
    assert.equal((await system.send('/token', { method: 'OPTIONS' })).status, 204);
  });

  it('takes a form only, and no parameters of the query [authentication.oauth.token-request]', async () => {
    const { code, verifier } = await system.code(client);
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: client.id };
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(form) };
    assertRefused(await system.send('/token', json), 'invalid_request');
    const query = new URLSearchParams({ ...form, redirect_uri: REDIRECT_URI }).toString();
    assertRefused(
      await system.send(`/token?${query}`, { method: 'POST', body: new URLSearchParams() }),
      'invalid_request',
    );
    assertRefused(await system.send('/token', { method: 'POST' }), 'invalid_request');
    assertRefused(await system.token({ padding: 'x'.repeat(16 * 1024) }), 'payload_too_large');
  });

  it('refuses a repeated parameter', async () => {
    for (const name of ['code', 'grant_type', 'client_id', 'unknown']) {
      const body = new URLSearchParams([
        ['grant_type', 'password'],
        [name, 'a'],
        [name, 'a'],
      ]);
      assertRefused(await system.send('/token', { method: 'POST', body }), 'invalid_request');
    }
  });

  it('refuses other grants before the client [authentication.oauth.unsupported-grant, authentication.not-offered]', async () => {
    assertRefused(await system.token({ client_id: client.id }), 'invalid_request');
    assertRefused(await system.token({ grant_type: '', client_id: client.id }), 'invalid_request');
    for (const grant_type of [
      'password',
      'client_credentials',
      'implicit',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'urn:ietf:params:oauth:grant-type:device_code',
      'urn:ietf:params:oauth:grant-type:token-exchange',
      'toString',
    ]) {
      assertRefused(await system.token({ grant_type, client_id: 'unknown' }), 'unsupported_grant_type');
    }
  });

  it('refuses an unknown client and a wrong secret with 401 invalid_client', async () => {
    const grant_type = 'refresh_token';
    const confidential = await system.client({ token_endpoint_auth_method: 'client_secret_basic' });
    const basic = (id: string, secret: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
    });
    assertRefused(await system.token({ grant_type }), 'invalid_request');
    for (const form of [
      { client_id: 'unknown' },
      { client_id: confidential.id },
      { client_id: confidential.id, client_secret: 'wrong' },
      { client_id: client.id, client_secret: 'not-needed' },
    ]) {
      const refused = await system.token({ grant_type, ...form });
      assertRefused(refused, 'invalid_client');
      assert.equal(refused.headers.get('www-authenticate'), null);
    }
    for (const headers of [
      basic(confidential.id, 'wrong'),
      basic('unknown', 'secret'),
      { authorization: 'Basic !' },
      { authorization: 'Bearer abcdefgh' },
      { authorization: `Basic ${Buffer.from('%:x').toString('base64')}` },
      basic('\u0000', 'secret'),
    ]) {
      const refused = await system.token({ grant_type }, headers);
      assertRefused(refused, 'invalid_client');
      assert.equal(refused.headers.get('www-authenticate'), 'Basic realm="token"');
    }
    const right = basic(confidential.id, confidential.secret ?? '');
    for (const twice of [{ client_secret: confidential.secret }, { client_id: client.id }])
      assertRefused(await system.token({ grant_type, ...twice }, right), 'invalid_request');
    const { code, verifier } = await system.code(confidential);
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT_URI };
    assert.equal((await system.token(form, right)).status, 200);
    assert.equal((await system.exchange(confidential, await system.code(confidential))).status, 200);
  });

  it('decodes id and secret of the Authorization header as a form', async () => {
    const id = 'a:b c';
    await system.sql(`insert into auth.clients (id, secret_hash, redirect_uris, auth_method, grant_types)
      values ('${id}', sha256('s%:+'), '{${REDIRECT_URI}}', 'client_secret_basic', '{authorization_code}')`);
    const { code, verifier } = await system.code({ id, secret: undefined });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT_URI };
    const authorization = `Basic ${Buffer.from('a%3Ab+c:s%25%3A%2B').toString('base64')}`;
    assert.equal((await system.token(form, { authorization })).status, 200);
  });

  it('refuses a grant that the client is not registered for', async () => {
    const codeOnly = await system.client({ grant_types: ['authorization_code'] });
    const refreshOnly = await system.client({ grant_types: ['refresh_token'] });
    assertRefused(await system.refresh(codeOnly, 'x'), 'unauthorized_client');
    assertRefused(await system.exchange(refreshOnly, { code: 'x', verifier: 'y' }), 'unauthorized_client');
  });

  it('exchanges a code only with everything it is bound to [authentication.oauth.invalid-grant, authentication.oauth.pkce-only]', async () => {
    const other = await system.client();
    const code = await system.code(client);
    for (const missing of ['code', 'redirect_uri', 'code_verifier'])
      assertRefused(await system.exchange(client, code, { [missing]: undefined }), 'invalid_request');
    for (const change of [
      { code: 'unknown' },
      { client_id: other.id },
      { redirect_uri: 'http://127.0.0.1:8977/callback' },
      { redirect_uri: `${REDIRECT_URI}/` },
      { code_verifier: randomBytes(32).toString('base64url') },
      { code_verifier: 'a'.repeat(42) },
      { code_verifier: 'a'.repeat(129) },
      { code_verifier: `${code.verifier}=` },
      { code_verifier: 'ä'.repeat(43) },
    ]) {
      assertRefused(await system.exchange(client, code, change), 'invalid_grant');
    }
    assertRefused(await system.exchange(client, code, { resource: 'https://other.example' }), 'invalid_target');
    assert.equal((await system.exchange(client, code)).status, 200);
    const late = await system.code(client);
    await system.sql(`update auth.codes set expires_at = expires_at - interval '60 seconds' where used_at is null`);
    assertRefused(await system.exchange(client, late), 'invalid_grant');
  });

  it('a valid replay of a code revokes the grant, an invalid one does not', async () => {
    const { code, reply } = await granted();
    for (const change of [
      { code_verifier: randomBytes(32).toString('base64url') },
      { client_id: (await system.client()).id },
      { redirect_uri: 'http://127.0.0.1:8977/callback' },
    ]) {
      assertRefused(await system.exchange(client, code, change), 'invalid_grant');
    }
    assert.equal(await system.isInForce(code.userId), true);
    assertRefused(await system.exchange(client, code), 'invalid_grant');
    assert.equal(await system.isInForce(code.userId), false);
    assertRefused(await system.refresh(client, reply.body['refresh_token']), 'invalid_grant');
  });

  it('a refresh token works once; a second use revokes the grant [authentication.oauth.refresh]', async () => {
    const { code, reply } = await granted();
    const first = reply.body['refresh_token'];
    const next = await system.refresh(client, first);
    assert.equal(next.status, 200);
    assert.notEqual(next.body['refresh_token'], first);
    assertRefused(await system.refresh(await system.client(), first), 'invalid_grant');
    assert.equal(await system.isInForce(code.userId), true);
    assertRefused(await system.refresh(client, first), 'invalid_grant');
    assert.equal(await system.isInForce(code.userId), false);
    assertRefused(await system.refresh(client, next.body['refresh_token']), 'invalid_grant');
    for (const wrong of ['unknown', code.code, reply.body['access_token']])
      assertRefused(await system.refresh(client, wrong), 'invalid_grant');
  });

  it('narrows the access token only, and never beyond the grant', async () => {
    const { reply } = await granted();
    const narrow = await system.refresh(client, reply.body['refresh_token'], {
      scope: 'read',
      resource: `${BASE_URL}/`,
    });
    assert.equal(narrow.body['scope'], 'read');
    const { claims } = readToken(narrow.body['access_token']);
    assert.deepEqual([claims['scope'], claims['aud']], ['read', [BASE_URL]]);
    const again = await system.refresh(client, narrow.body['refresh_token']);
    assert.equal(again.body['scope'], 'read write');
    const token = again.body['refresh_token'];
    for (const scope of ['admin', 'read admin', 'everything'])
      assertRefused(await system.refresh(client, token, { scope }), 'invalid_scope');
    assertRefused(await system.refresh(client, token, { resource: 'https://other.example' }), 'invalid_target');
    const reader = await system.exchange(
      client,
      await system.code(client, { scopes: ['read'], resources: [BASE_URL] }),
    );
    const refreshed = reader.body['refresh_token'];
    assertRefused(await system.refresh(client, refreshed, { scope: 'read write' }), 'invalid_scope');
    assertRefused(await system.refresh(client, refreshed, { resource: `${AUTH_URL}/mcp` }), 'invalid_target');
    assert.equal((await system.refresh(client, refreshed)).status, 200);
  });

  it('refuses the refresh token of a grant that its person revoked', async () => {
    const { code, reply } = await granted();
    await system.grants.revokeAllOf(code.userId, 'a test', NO_VISITOR);
    assertRefused(await system.refresh(client, reply.body['refresh_token']), 'invalid_grant');
  });

  it('answers with a bearer token, and with a refresh token for clients that use it [authentication.oauth.token-answer]', async () => {
    const { code, reply } = await granted();
    const { access_token, refresh_token, ...rest } = reply.body;
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1800, scope: 'read write' });
    assert.match(String(refresh_token), /^wtsr_[0-9a-f]{128}$/);
    assert.deepEqual(
      [reply.headers.get('cache-control'), reply.headers.get('pragma'), reply.headers.get('content-type')],
      ['no-store', 'no-cache', 'application/json'],
    );
    const { header, claims } = readToken(access_token);
    const { keys } = (await system.send('/jwks')).body as { keys: { kid: string }[] };
    assert.deepEqual(header, { alg: 'ES256', typ: 'at+jwt', kid: keys[0]?.kid });
    const { gid, jti, iat, exp, ...named } = claims;
    assert.deepEqual(named, {
      iss: AUTH_URL,
      aud: [BASE_URL, `${AUTH_URL}/mcp`],
      sub: code.userId,
      client_id: client.id,
      scope: 'read write',
    });
    assert.equal(Number(exp) - Number(iat), 1800);
    assert.match(`${String(gid)} ${String(jti)}`, /^[0-9a-f-]{36} [0-9a-f-]{36}$/);
    const codeOnly = await system.client({ grant_types: ['authorization_code'] });
    assert.ok(!('refresh_token' in (await granted(codeOnly)).reply.body));
    const narrow = await system.exchange(client, await system.code(client), { resource: `${AUTH_URL}/mcp` });
    assert.deepEqual(readToken(narrow.body['access_token']).claims['aud'], [`${AUTH_URL}/mcp`]);
  });

  it('writes no token, code, verifier or secret to the log or the database', async () => {
    const confidential = await system.client({ token_endpoint_auth_method: 'client_secret_post' });
    const { code, reply } = await granted(confidential);
    await system.exchange(confidential, code);
    await system.refresh(confidential, reply.body['refresh_token'], { client_id: 'unknown' });
    await system.send(`/token?code=${code.code}`, { method: 'POST' });
    await system.send(`/${String(reply.body['refresh_token'])}`);
    const tables = ['clients', 'grants', 'codes', 'signing_keys'];
    const stored = await Promise.all(tables.map((table) => system.sql(`select t::text from auth.${table} t`)));
    const written = system.logs() + JSON.stringify(stored);
    assert.match(written, /"route":"token"/);
    const secrets = [code.code, code.verifier, confidential.secret, ...Object.values(reply.body).slice(0, 1)];
    for (const secret of [...secrets, reply.body['refresh_token'], 'PRIVATE KEY']) {
      assert.ok(!written.includes(String(secret)), String(secret));
      assert.ok(!written.includes(Buffer.from(String(secret)).toString('hex')));
    }
  });
});
