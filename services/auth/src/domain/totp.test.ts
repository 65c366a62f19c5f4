import fc from 'fast-check';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { base32, stepOfCode, totpAddress, totpCode } from './totp.ts';

describe('codes of an authenticator app', () => {
  const secret = Buffer.from('12345678901234567890');

  it('are those of RFC 6238', () => {
    const given = [59, 1_111_111_109, 1_111_111_111, 1_234_567_890, 2_000_000_000, 20_000_000_000];
    const codes = given.map((seconds) => totpCode(secret, Math.floor(seconds / 30)));
    // Appendix B, of whose eight digits the last six count here.
    assert.deepEqual(codes, ['287082', '081804', '050471', '005924', '279037', '353130']);
  });

  it('are right in their own time step, in the one before and in the one after, and in no other', () => {
    const at = 1_800_000_000;
    const step = at / 30;
    for (const [change, expected] of [-2, -1, 0, 1, 2].map((n) => [n, Math.abs(n) <= 1 ? step + n : null] as const))
      assert.equal(stepOfCode(secret, totpCode(secret, step + change), at), expected);
    assert.equal(stepOfCode(secret, ` ${totpCode(secret, step).replace(/^.../, '$& ')} `, at), step, 'with spaces');
    for (const wrong of ['', '12345', '1234567', 'abcdef', '０１２３４５'])
      assert.equal(stepOfCode(secret, wrong, at), null);
  });

  it('come from a secret whose base32 gives the same bytes again', () => {
    const read = (text: string): Buffer => {
      const bits = [...text]
        .map((one) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'))
        .join('');
      return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) =>
        assert.deepEqual(read(base32(Buffer.from(bytes))), Buffer.from(bytes)),
      ),
    );
    assert.equal(base32(randomBytes(20)).length, 32);
  });

  it('name the account and the service in the address that an app reads', () => {
    const address = totpAddress(secret, { issuer: 'A & B', account: 'ada@example.com' });
    assert.equal(
      address,
      'otpauth://totp/A%20%26%20B:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=A%20%26%20B',
    );
  });
});
