import assert from 'node:assert/strict';
import { comparableAddress } from './comparable-address.ts';

const sameAddress = (a: string, b: string): boolean => comparableAddress(a) === comparableAddress(b);

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

  it('never takes another letter for an ASCII letter in the name [workspaces.join.address]', () => {
    assert.ok(!sameAddress('\u212Aate@example.com', 'kate@example.com'));
    assert.ok(!sameAddress('\u212Aate@example.com', 'Kate@example.com'));
    assert.ok(!sameAddress('\u212A@example.com', '\u212A@example.org'));
    assert.ok(sameAddress('\u212Aate@example.com', '\u212Aate@EXAMPLE.com'));
    const name = (text: string): string => comparableAddress(`${text}@example.com`).slice(0, -'@example.com'.length);
    const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
    for (let point = 0x80; point <= 0x10ffff; point += 1) {
      const letter = String.fromCodePoint(point);
      // An `@` divides name and domain, and blanks at the ends are left out.
      if (!/\s/u.test(letter) && isAscii(name(letter))) assert.fail(`U+${point.toString(16)} becomes ${name(letter)}`);
    }
  });
});
