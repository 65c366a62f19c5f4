import assert from 'node:assert/strict';
import { signatureOf } from './signature.ts';

describe('the signature of a delivery', () => {
  it('is the one that Standard Webhooks gives as its example [webhooks.signature.content, webhooks.signature.key]', () => {
    const signature = signatureOf({
      eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1_614_265_330,
      body: Buffer.from('{"test": 2432232314}'),
      secrets: [Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')],
    });
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is made for each secret, the current one first [webhooks.headers.signature]', () => {
    const signing = { eventId: 'a', timestampSeconds: 1, body: Buffer.from('b') };
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const alone = [one, two].map((secret) => signatureOf({ ...signing, secrets: [secret] }));
    assert.equal(signatureOf({ ...signing, secrets: [one, two] }), alone.join(' '));
    assert.notEqual(alone[0], alone[1]);
  });
});
