import assert from 'node:assert/strict';
import { hashOfRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

describe('recovery codes', () => {
  it('are ten different ones of 80 bits, which count in any case and with any spaces, for one account', () => {
    const codes = newRecoveryCodes();
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) {
      assert.match(code, /^(?:[a-z2-7]{4}-){3}[a-z2-7]{4}$/);
      const typed = ` ${code.toUpperCase().replaceAll('-', ' ')}\n`;
      assert.deepEqual(hashOfRecoveryCode('a', typed), hashOfRecoveryCode('a', code));
      assert.notDeepEqual(hashOfRecoveryCode('b', code), hashOfRecoveryCode('a', code));
    }
  });
});
