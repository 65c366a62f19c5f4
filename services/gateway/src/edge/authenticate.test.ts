import assert from 'node:assert/strict';
import type { Fault } from '@wts/contracts';
import { takeToken } from './authenticate.ts';

describe('the token in the query of a socket', () => {
  it('is removed, and everything else is forwarded byte for byte', () => {
    assert.deepEqual(takeToken('?a=%20b&token=abc&c'), { token: 'abc', rest: '?a=%20b&c' });
    assert.deepEqual(takeToken('?token=a.b-c_d'), { token: 'a.b-c_d', rest: '' });
    assert.deepEqual(takeToken('?x=token'), { token: null, rest: '?x=token' });
    assert.deepEqual(takeToken(''), { token: null, rest: '' });
  });

  it('is removed also when its name is percent-encoded', () =>
    assert.deepEqual(takeToken('?%74oken=abc'), { token: 'abc', rest: '' }));

  it('is ignored when it is empty', () => {
    assert.equal(takeToken('?token=').token, null);
    assert.equal(takeToken('?token').token, null);
  });

  it('is refused when it is repeated or cannot be decoded', () => {
    for (const query of ['?token=a&token=b', '?token=%ff', '?%zz=1']) {
      assert.throws(
        () => takeToken(query),
        (error: Fault) => error.code === 'malformed_request',
        query,
      );
    }
  });
});
