import assert from 'node:assert/strict';
import { faultOfPassword } from './password-rules.ts';

describe('a new password', () => {
  const EMAIL = 'Ada@Example.com';

  it('has 10 to 1024 bytes of any characters', () => {
    assert.match(String(faultOfPassword('123456abc', EMAIL)), /at least 10/);
    assert.match(String(faultOfPassword('x'.repeat(1025), EMAIL)), /at most 1024/);
    for (const password of ['bcdefghijk', 'bcde'.repeat(256), 'b c d e f ', 'ÄÖÜäö', 'a sentence of words'])
      assert.equal(faultOfPassword(password, EMAIL), null, password);
    for (const password of ['          ', 'a'.repeat(11), 'abcabcabcabc'])
      assert.match(String(faultOfPassword(password, EMAIL)), /more different characters/);
  });

  it('is neither the email nor one of the commonest', () => {
    for (const password of ['ada@example.com', ' ADA@EXAMPLE.COM'])
      assert.match(String(faultOfPassword(password, EMAIL)), /not your email/);
    for (const password of ['password123', 'Qwertyuiop', '1234567890'])
      assert.match(String(faultOfPassword(password, EMAIL)), /commonest/);
  });
});
