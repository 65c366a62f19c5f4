import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { parseSecretKeys, sealSecret, unsealSecret } from './secret-keys.ts';

const makeKey = (): string => randomBytes(32).toString('base64');

describe('a secret in a database', () => {
  it('stays readable when another key encrypts from now on, named or not', () => {
    const [old, next] = [makeKey(), makeKey()];
    const [id, secret] = [randomUUID(), randomBytes(32)];
    for (const before of [old, `first:${old}`]) {
      const kept = sealSecret(parseSecretKeys(before), id, secret);
      const keys = parseSecretKeys(`second:${next}, ${before}`);
      assert.deepEqual(unsealSecret(keys, id, kept), secret);
      assert.equal(sealSecret(keys, id, secret).keyId, 'second');
    }
    const unnamed = sealSecret(parseSecretKeys(old), id, secret);
    assert.deepEqual(unsealSecret(parseSecretKeys(`${next},named-later:${old}`), id, unnamed), secret);
    assert.throws(() => unsealSecret(parseSecretKeys(next), id, unnamed), /has no key/);
  });

  it('is encrypted with a key of 32 bytes that cannot be guessed, and no message repeats one', () => {
    const key = makeKey();
    const wrong = ['', 'short', `${key},`, randomBytes(31).toString('base64'), Buffer.alloc(32).toString('base64')];
    for (const text of [...wrong, `${key},${key}`, `A B:${key}`, `a:${key},a:${makeKey()}`]) {
      assert.throws(
        () => parseSecretKeys(text),
        ({ message }: Error) => !message.includes(key),
        text,
      );
    }
    assert.equal(parseSecretKeys(`a:${key},b:${makeKey()}`).current.id, 'a');
  });
});
