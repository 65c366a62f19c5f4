import assert from 'node:assert/strict';
import { mergedClaims } from './merged-claims.ts';

describe('the claims of an ID token and of userinfo', () => {
  it('have the address and its verification from one source [authentication.provider.address]', () => {
    const [own, other] = [{ email: 'a@example.com' }, { email: 'b@example.com', email_verified: true }];
    assert.deepEqual(mergedClaims(own, other), own);
    assert.deepEqual(mergedClaims({ email_verified: true }, own), own);
    assert.deepEqual(mergedClaims({ sub: 'x' }, other), { sub: 'x', ...other });
    assert.deepEqual(mergedClaims(other, own), other);
    assert.deepEqual(mergedClaims({ email: other.email }, other), other, 'both have the same address');
  });

  it('are those of the ID token where both have one', () =>
    assert.deepEqual(mergedClaims({ sub: 'x', name: 'A' }, { sub: 'y', name: 'B', picture: 'p' }), {
      sub: 'x',
      name: 'A',
      picture: 'p',
    }));
});
