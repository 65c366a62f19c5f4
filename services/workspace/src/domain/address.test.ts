import assert from 'node:assert/strict';
import { sameAddress } from './address.ts';

describe('the comparison of addresses', () => {
  it('ignores case', () => {
    assert.ok(sameAddress('Ada@Example.COM', 'ada@example.com'));
    assert.ok(!sameAddress('ada@example.com', 'ada@example.org'));
  });

  it('accepts both spellings of a non-ASCII domain and of a composed accent', () => {
    assert.ok(sameAddress('jörg@Bücher.de', 'jo\u0308rg@xn--bcher-kva.de'));
    assert.ok(!sameAddress('jorg@bücher.de', 'jörg@bücher.de'));
    assert.ok(!sameAddress('a@b@example.com', 'a@example.com'));
    // An invalid domain is compared as text.
    assert.ok(!sameAddress('a@<', 'a@>'));
  });
});
