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
    // Many at a time, between code points that are no letters; blanks at the ends are left out.
    const between = '\u{10ffff}';
    for (let from = 0x80; from < 0x10ffff; from += 0x80) {
      const points = Array.from({ length: Math.min(0x80, 0x10ffff - from) }, (_, index) => from + index);
      const letters = points.map((point) => String.fromCodePoint(point)).filter((letter) => !/\s/u.test(letter));
      const name = comparableAddress(`${letters.join(between)}@example.com`).slice(0, -'@example.com'.length);
      const folded = name.split(between);
      assert.equal(folded.length, letters.length);
      for (const [index, one] of folded.entries())
        assert.match(one, /[^\0-\x7f]/, `U+${letters[index]?.codePointAt(0)?.toString(16)} becomes ${one}`);
    }
  });
});
