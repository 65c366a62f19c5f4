import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { makeSecret, parseSecretKeys, sealSecret, secretsInForce, secretText, unsealSecret } from './secrets.ts';

const makeKey = (): string => randomBytes(32).toString('base64');

describe('the secret of an endpoint', () => {
  it('is 32 bytes and is shown as whsec_ and base64 [webhooks.secret.at-rest]', () => {
    const secret = makeSecret();
    assert.equal(secret.length, 32);
    assert.deepEqual(Buffer.from(secretText(secret).replace(/^whsec_/, ''), 'base64'), secret);
  });

  it('is unsealed for its own endpoint only, and not after a change of a byte [webhooks.secret.at-rest]', () => {
    const keys = parseSecretKeys(makeKey());
    const [id, secret] = [randomUUID(), makeSecret()];
    const kept = sealSecret(keys, id, secret);
    assert.ok(!kept.sealed.includes(secret) && !kept.sealed.includes(secret.toString('base64')));
    assert.deepEqual(unsealSecret(keys, id, kept), secret);
    assert.throws(() => unsealSecret(keys, randomUUID(), kept));
    const changed = Buffer.from(kept.sealed);
    changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
    assert.throws(() => unsealSecret(keys, id, { ...kept, sealed: changed }));
  });

  it('stays readable when another key encrypts from now on, named or not', () => {
    const [old, next] = [makeKey(), makeKey()];
    const [id, secret] = [randomUUID(), makeSecret()];
    for (const before of [old, `first:${old}`]) {
      const kept = sealSecret(parseSecretKeys(before), id, secret);
      const keys = parseSecretKeys(`second:${next}, ${before}`);
      assert.deepEqual(unsealSecret(keys, id, kept), secret);
      assert.equal(sealSecret(keys, id, secret).keyId, 'second');
    }
    const unnamed = sealSecret(parseSecretKeys(old), id, secret);
    assert.deepEqual(unsealSecret(parseSecretKeys(`${next},named-later:${old}`), id, unnamed), secret);
    assert.throws(() => unsealSecret(parseSecretKeys(next), id, unnamed), /holds no key/);
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

  it('signs from its making until it expires, the current one first [webhooks.signature.rotation]', () => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    const at = (ms: number): Date => new Date(now + ms);
    const current = { createdAt: at(-10), expiresAt: null };
    const before = { createdAt: at(-20), expiresAt: at(1) };
    const older = { createdAt: at(-30), expiresAt: at(1) };
    const over = { createdAt: at(-5), expiresAt: at(0) };
    assert.deepEqual(secretsInForce([older, over, current, before], now), [current, before, older]);
  });
});
