import assert from 'node:assert/strict';
import { parseForm } from '@wts/service-kit/http';
import type { Client } from '../domain/client.ts';
import { readAuthorizationRequest, redirectTo, type AuthorizationReading } from './authorization-request.ts';
import { Resources } from './resources.ts';

const resources = new Resources([{ shard: 0, baseUrl: 'https://api.example' }], 'https://auth.example');
const client: Client = {
  id: 'c1',
  secretHash: null,
  name: null,
  redirectUris: ['https://app.example/cb'],
  authMethod: 'none',
  grantTypes: ['authorization_code'],
  applicationType: null,
};
const correct = {
  response_type: 'code',
  client_id: 'c1',
  redirect_uri: 'https://app.example/cb',
  state: 'a "state" of äöü + %00',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  scope: 'read write',
  resource: 'https://auth.example/mcp',
};

function read(change: Readonly<Record<string, string | undefined>> = {}, more = '', who: Client | null = client) {
  const given = Object.entries({ ...correct, ...change }).filter((entry): entry is [string, string] => !!entry[1]);
  return readAuthorizationRequest(parseForm(new URLSearchParams(given).toString() + more), who, { resources });
}

function errorOf(reading: AuthorizationReading): string {
  if (!('redirect' in reading)) return 'page' in reading ? 'page' : 'ok';
  assert.equal(reading.redirect.redirectUri, correct.redirect_uri);
  assert.equal(reading.redirect.state, correct.state);
  return reading.redirect.error;
}

describe('a request to /authorize', () => {
  it('is read when everything in it is correct, and unknown parameters are ignored', () =>
    assert.deepEqual(read({}, '&audience=x'), {
      ok: {
        clientId: 'c1',
        redirectUri: 'https://app.example/cb',
        state: correct.state,
        scopes: ['read', 'write'],
        resources: ['https://auth.example/mcp'],
        challenge: correct.code_challenge,
      },
    }));

  it('gets a page and never a redirect for an unknown client and for a missing, wrong or repeated address', () => {
    const several = { ...client, redirectUris: [...client.redirectUris, 'https://app.example/other'] };
    for (const reading of [
      read({}, '', null),
      read({ redirect_uri: 'https://evil.example/cb' }),
      read({ redirect_uri: 'https://app.example/cb/' }),
      read({}, '&redirect_uri=https%3A%2F%2Fevil.example'),
      read({}, '&client_id=c2'),
      read({ redirect_uri: undefined }, '', several),
      read({ redirect_uri: undefined }, '', { ...client, redirectUris: [] }),
    ]) {
      assert.equal(errorOf(reading), 'page');
    }
  });

  it('may leave the address out when one is registered', () => {
    const reading = read({ redirect_uri: undefined });
    assert.equal('ok' in reading && reading.ok.redirectUri, 'https://app.example/cb');
  });

  it('has every other fault reported by a redirect, with the state', () => {
    for (const [error, change] of [
      ['invalid_request', { response_type: undefined }],
      ['unsupported_response_type', { response_type: 'token' }],
      ['unsupported_response_type', { response_type: 'code id_token' }],
      ['invalid_request', { response_mode: 'fragment' }],
      ['invalid_request', { code_challenge: undefined }],
      ['invalid_request', { code_challenge_method: undefined }],
      ['invalid_request', { code_challenge_method: 'plain' }],
      ['invalid_request', { code_challenge: correct.code_challenge.slice(1) }],
      ['invalid_request', { code_challenge: `${correct.code_challenge.slice(1)}=` }],
      ['invalid_scope', { scope: 'admin' }],
      ['invalid_scope', { scope: 'everything' }],
      ['invalid_target', { resource: 'https://other.example/mcp' }],
    ] as const) {
      assert.equal(errorOf(read(change)), error, JSON.stringify(change));
    }
    assert.equal(errorOf(read({}, '&scope=read')), 'invalid_request');
    assert.equal(errorOf(read({}, '', { ...client, grantTypes: ['refresh_token'] })), 'unauthorized_client');
    const stateless = read({ state: undefined, response_type: 'token' });
    assert.equal('redirect' in stateless && stateless.redirect.state, null);
  });

  it('keeps only the known ones of too many scopes, and never admin [authentication.scopes.admin-api-keys-only]', () => {
    for (const [scope, scopes] of [
      ['read write admin', ['read', 'write']],
      ['offline_access admin write', ['write']],
      ['read', ['read']],
      [undefined, ['read', 'write']],
    ] as const) {
      const reading = read({ scope });
      assert.deepEqual('ok' in reading && reading.ok.scopes, scopes);
    }
  });

  it('is for all resources when it names none, and a slash at the end is no difference', () => {
    const resourcesOf = (resource: string | undefined) => {
      const reading = read({ resource });
      return 'ok' in reading ? reading.ok.resources : null;
    };
    assert.deepEqual(resourcesOf(undefined), ['https://api.example', 'https://auth.example/mcp']);
    assert.deepEqual(resourcesOf('https://api.example/'), ['https://api.example']);
  });
});

describe('the address of a redirect', () => {
  it('keeps the registered query, and encodes every parameter', () => {
    const state = 'a&b=c "d" ü\r\nx: y';
    for (const base of ['https://app.example/cb', 'https://app.example/cb?from=wts', 'com.example.app:/cb']) {
      const address = redirectTo(base, { code: 'c', state, error: null, iss: 'https://auth.example' });
      assert.ok(address.startsWith(`${base}${base.includes('?') ? '&' : '?'}code=c&state=`), address);
      assert.match(address, /^[\x21-\x7e]+$/);
      const { searchParams } = new URL(address);
      assert.deepEqual([searchParams.get('state'), searchParams.get('iss')], [state, 'https://auth.example']);
      assert.equal(searchParams.has('error'), false);
    }
  });
});
