import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { parseSecretKeys, sealSecret, unsealSecret } from '@wts/service-kit/sealing';
import { makeSecret, secretsInForce, secretText } from './secrets.ts';

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
