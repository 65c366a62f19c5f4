import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { weaknessOf } from './weak-secret.ts';

describe('a shared secret', () => {
  const weak: Readonly<Record<string, [string, RegExp]>> = {
    'that is too short': ['k2J9', /at least 32/],
    'of one character': ['x'.repeat(32), /repeats itself/],
    'of one character, however long': ['x'.repeat(4096), /repeats itself/],
    'of two characters in turn': ['ab'.repeat(40), /repeats itself/],
    'that is a placeholder four times over': ['changeme'.repeat(4), /placeholder/],
    'that is a short word again and again': ['sesame'.repeat(6), /repeats itself/],
    'that is a short word again and again, with a number behind': [`${'sesame'.repeat(6)}12345`, /repeats itself/],
    'that is a phrase twice, with a number behind': ['our-little-key-our-little-key-1234', /repeats itself/],
    'that is a password with words around': ['the-Password-of-our-production-cluster', /placeholder/],
    'that is an alphabet': ['abcdefghijklmnopqrstuvwxyz0123456789', /sequence/],
    'that counts down': ['zyxwvutsrqponmlkjihgfedcba9876543210', /sequence/],
  };
  for (const [what, [secret, why]] of Object.entries(weak)) {
    it(`${what} is refused without its text`, () => {
      const weakness = weaknessOf(secret) ?? 'nothing';
      assert.match(weakness, why);
      assert.ok(!weakness.includes(secret));
    });
  }

  it('that is random is accepted in any encoding', () => {
    for (let round = 0; round < 500; round += 1) {
      const bytes = randomBytes(24 + (round % 50));
      for (const secret of [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')])
        assert.equal(weaknessOf(secret), null, secret);
    }
  });
});
