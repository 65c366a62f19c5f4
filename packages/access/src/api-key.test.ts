import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { generateApiKey, readApiKey } from './api-key.ts';

const PREFIX = 'wts_';

describe('a personal API key', () => {
  it('is its prefix, 43 characters of secret and 6 of checksum, all safe in a header and a shell [api-keys.token.prefix]', () => {
    const { token, hash, keyPrefix } = generateApiKey(PREFIX);
    assert.match(token, /^wts_[0-9A-Za-z]{49}$/);
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.equal(keyPrefix, token.slice(0, 12));
  });

  it('is parsed to its hash, for any prefix', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9]{0,8}_$/), (prefix) => {
        const { token, hash } = generateApiKey(prefix);
        assert.equal(readApiKey(token, prefix)?.hash, hash);
      }),
    ));

  it('is never made twice', () => {
    const keys = new Set(Array.from({ length: 1000 }, () => generateApiKey(PREFIX).token));
    assert.equal(keys.size, 1000);
  });

  it('is refused without a look-up when one character is changed', () => {
    const { token } = generateApiKey(PREFIX);
    const other = fc.constantFrom(...'0123456789ABCXYZabcxyz'.split(''));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: token.length - 1 }), other, (at, character) => {
        fc.pre(token[at] !== character);
        assert.equal(readApiKey(token.slice(0, at) + character + token.slice(at + 1), PREFIX), null);
      }),
    );
  });

  it('is refused when two neighbours are swapped', () => {
    const { token } = generateApiKey(PREFIX);
    fc.assert(
      fc.property(fc.integer({ min: PREFIX.length, max: token.length - 2 }), (at) => {
        const [a, b] = [token[at]!, token[at + 1]!];
        fc.pre(a !== b);
        assert.equal(readApiKey(token.slice(0, at) + b + a + token.slice(at + 2), PREFIX), null);
      }),
    );
  });

  it('is refused when it has no key shape: another prefix, cut, padded or doubled', () => {
    const { token } = generateApiKey(PREFIX);
    const foreign = generateApiKey('abc_').token;
    const wrong = ['', PREFIX, foreign, token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`, token + token];
    for (const text of wrong) assert.equal(readApiKey(text, PREFIX), null, JSON.stringify(text));
    fc.assert(fc.property(fc.string({ unit: ANY_CHARACTER }), (text) => readApiKey(PREFIX + text, PREFIX) === null));
  });

  it('is refused when it holds other characters, even with the right checksum', () => {
    const secret = `${PREFIX}${'-'.repeat(43)}`;
    let rest = crc32(secret);
    let checksum = '';
    for (; checksum.length < 6; rest = Math.floor(rest / 62))
      checksum = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.charAt(rest % 62) + checksum;
    assert.equal(readApiKey(secret + checksum, PREFIX), null);
  });

  it('is refused with another prefix, also with the beginning of its own', () => {
    const { token } = generateApiKey('wts_live_');
    assert.equal(readApiKey(token, 'wts_'), null);
  });
});
