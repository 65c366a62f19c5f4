import assert from 'node:assert/strict';
import type { Principal } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import { mintInternalToken, verifyInternalToken } from './internal-token.ts';

const SECRET = 'the secret all services share, 32+';
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

function refuses(token: string, now = NOW, secret = SECRET): void {
  assert.throws(
    () => verifyInternalToken(token, secret, now),
    (fault) => fault instanceof Fault && fault.code === 'token_invalid',
  );
}

describe('an internal token', () => {
  it('carries the whole principal from one service to another', () => {
    for (const principal of [person(), person({ workspaceId: 'w', expiresAt: NOW + 5 }), person({ scopes: [] })]) {
      assert.deepEqual(verifyInternalToken(mintInternalToken(principal, SECRET, NOW), SECRET, NOW), principal);
    }
  });

  it('is refused after it has expired, also when it was remembered', () => {
    const token = mintInternalToken(person(), SECRET, NOW);
    verifyInternalToken(token, SECRET, NOW);
    verifyInternalToken(token, SECRET, NOW + LIMITS.internalTokenSeconds);
    refuses(token, NOW + LIMITS.internalTokenSeconds + 5);
  });

  it('is refused when another secret signed it, also when it was remembered under the right one', () => {
    const token = mintInternalToken(person(), SECRET, NOW);
    verifyInternalToken(token, SECRET, NOW);
    refuses(token, NOW, 'another secret of thirty-two chars');
  });

  it('is the same for 20 seconds, then a new one', () => {
    const principal = person();
    const token = mintInternalToken(principal, SECRET, NOW);
    assert.equal(mintInternalToken({ ...principal }, SECRET, NOW + 19), token);
    assert.equal(mintInternalToken(principal, SECRET, NOW + 19), token);
    assert.notEqual(mintInternalToken(principal, SECRET, NOW + 20), token);
  });

  it('is not minted ahead of time when the clock is set back', () => {
    const principal = person();
    const late = mintInternalToken(principal, SECRET, NOW + 1000);
    assert.notEqual(mintInternalToken(principal, SECRET, NOW), late);
  });

  it('differs for every principal that differs in anything', () => {
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
    const tokens = new Set(others.map((principal) => mintInternalToken(principal, SECRET, NOW)));
    assert.equal(tokens.size, others.length);
  });

  it('is refused when its content is not a principal', () => {
    const good = {
      iss: 'wts-internal',
      sub: 'u',
      iat: NOW,
      exp: NOW + 60,
      scopes: ['read'],
      credential: { kind: 'jwt', id: 'x' },
    };
    const wrong: object[] = [
      { ...good, iss: 'someone' },
      { ...good, sub: '' },
      { ...good, sub: undefined },
      { ...good, scopes: ['root'] },
      { ...good, scopes: 'read' },
      { ...good, credential: { kind: 'god', id: 'x' } },
      { ...good, credential: null },
      { ...good, exp: undefined },
    ];
    verifyInternalToken(jwt.sign(good, SECRET), SECRET, NOW);
    for (const claims of wrong) refuses(jwt.sign(JSON.parse(JSON.stringify(claims)) as object, SECRET));
    refuses(jwt.sign(good, SECRET, { algorithm: 'HS512' }));
    refuses(
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(good)).toString('base64url')}.`,
    );
  });
});
