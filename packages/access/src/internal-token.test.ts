import assert from 'node:assert/strict';
import type { Principal } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import type { ReadToken } from './internal-token.ts';
import { tokenMinter, tokenReader } from './internal-token.ts';

const SECRET = 'the secret all services share, 32+';
const OTHER = 'another secret of thirty-two chars';
const NOW = 1_800_000_000;
let serial = 0;

function person(more: Partial<Principal> = {}): Principal {
  serial += 1;
  return {
    userId: `user-${serial}`,
    scopes: ['read', 'write'],
    credential: { kind: 'api_key', id: `key-${serial}` },
    ...more,
  };
}

const mint = tokenMinter({ from: 'gateway', to: 'sync', secret: SECRET });
const read = tokenReader('sync', [SECRET]);

function refuses(token: string, now = NOW, reader: ReadToken = read): void {
  assert.throws(
    () => reader(token, now),
    (fault) => fault instanceof Fault && fault.code === 'token_invalid',
  );
}

/** The claims of a correct token. */
const GOOD = {
  iss: 'wts-internal',
  aud: 'sync',
  act: 'gateway',
  sub: 'u',
  iat: NOW,
  exp: NOW + 60,
  scopes: ['read'],
  credential: { kind: 'jwt', id: 'x' },
};

describe('an internal token', () => {
  it('contains the whole principal and the service that calls', () => {
    for (const principal of [person(), person({ workspaceId: 'w', expiresAt: NOW + 5 }), person({ scopes: [] })]) {
      const call = read(mint(principal, NOW), NOW);
      assert.deepEqual([call.principal, call.caller], [principal, 'gateway']);
    }
  });

  it('is refused by every other service than its audience, also from the cache [authentication.internal.audience]', () => {
    const token = mint(person(), NOW);
    read(token, NOW);
    for (const service of ['workspace', 'gateway', 'Sync', '']) refuses(token, NOW, tokenReader(service, [SECRET]));
  });

  it('is refused after it has expired, also from the cache', () => {
    const token = mint(person(), NOW);
    read(token, NOW);
    read(token, NOW + LIMITS.internalTokenSeconds);
    refuses(token, NOW + LIMITS.internalTokenSeconds + 5);
  });

  it('is refused when another secret signed it', () => {
    refuses(mint(person(), NOW), NOW, tokenReader('sync', [OTHER]));
  });

  it('is accepted under either of two secrets while one replaces the other, and under no third', () => {
    const both = tokenReader('sync', [SECRET, OTHER]);
    const minted = (secret: string): string => tokenMinter({ from: 'gateway', to: 'sync', secret })(person(), NOW);
    for (const secret of [SECRET, OTHER]) assert.equal(both(minted(secret), NOW).caller, 'gateway');
    refuses(minted('a third secret, as long as it gets'), NOW, both);
  });

  it('is the same for 20 seconds, then minted again', () => {
    const principal = person();
    const token = mint(principal, NOW);
    assert.equal(mint({ ...principal }, NOW + 19), token);
    assert.equal(mint(principal, NOW + 19), token);
    assert.notEqual(mint(principal, NOW + 20), token);
  });

  it('is not minted ahead of time when the clock is set back', () => {
    const principal = person();
    const late = mint(principal, NOW + 1000);
    assert.notEqual(mint(principal, NOW), late);
  });

  it('differs for different principals, services called and services that call', () => {
    const base = person();
    const others: Principal[] = [
      base,
      { ...base, userId: 'another' },
      { ...base, scopes: ['read'] },
      { ...base, credential: { kind: 'jwt', id: base.credential.id } },
      { ...base, credential: { kind: 'api_key', id: 'another' } },
      { ...base, workspaceId: 'w' },
      { ...base, expiresAt: NOW + 100 },
    ];
    const tokens = new Set(others.map((principal) => mint(principal, NOW)));
    tokens.add(tokenMinter({ from: 'gateway', to: 'workspace', secret: SECRET })(base, NOW));
    tokens.add(tokenMinter({ from: 'graph', to: 'sync', secret: SECRET })(base, NOW));
    assert.equal(tokens.size, others.length + 2);
  });

  describe('is refused', () => {
    const wrong: Readonly<Record<string, object>> = {
      'from another issuer': { iss: 'someone' },
      'without a person': { sub: '' },
      'without a subject': { sub: undefined },
      'with a scope there is not': { scopes: ['root'] },
      'with scopes that are no list': { scopes: 'read' },
      'of a kind there is not': { credential: { kind: 'god', id: 'x' } },
      'without a credential': { credential: null },
      'that never expires': { exp: undefined },
      'without the service it is for [authentication.internal.audience]': { aud: undefined },
      'for a list of services [authentication.internal.audience]': { aud: ['sync', 'workspace'] },
      'for a list of one service': { aud: ['sync'] },
      'for another service [authentication.internal.audience]': { aud: 'workspace' },
      'without the service that calls [authentication.internal.audience]': { act: undefined },
      'with a caller that is no name': { act: { sub: 'gateway' } },
      'with an empty caller': { act: '' },
      'that is valid for a year [authentication.internal.audience]': { exp: NOW + 31_536_000 },
      'that is valid for a second too long': { exp: NOW + 61 },
      'without the moment it was minted at': { iat: undefined },
      'from the future': { iat: NOW + 30 },
      'that is not valid yet': { iat: NOW + 600, exp: NOW + 660 },
      'that ends before it begins': { iat: NOW, exp: NOW - 60 },
    };
    // The library puts an `iat` of the wall clock where there is none; what it is given as text it leaves alone.
    const signed = (claims: object): string => jwt.sign(JSON.stringify(claims), SECRET, { algorithm: 'HS256' });
    for (const [what, claims] of Object.entries(wrong)) {
      it(what, () => {
        read(signed({ ...GOOD, sub: what }), NOW);
        refuses(signed({ ...GOOD, ...claims }));
      });
    }

    it('with another algorithm, or with none', () => {
      refuses(jwt.sign(GOOD, SECRET, { algorithm: 'HS512' }));
      const [header, body] = ['{"alg":"none"}', JSON.stringify(GOOD)].map((text) =>
        Buffer.from(text).toString('base64url'),
      );
      refuses(`${header}.${body}.`);
    });
  });
});
