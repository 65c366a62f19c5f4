import assert from 'node:assert/strict';
import { Unsent } from './unsent.ts';

describe('bytes that sockets have not received', () => {
  const ample = { bytes: 256, stalledMs: 20 };
  const tight = { bytes: 64, stalledMs: 3 };

  it('are counted over all sockets, and each may leave less while there are too many [never.unbounded]', () => {
    const unsent = new Unsent(1_000, ample, tight);
    let one = unsent.change(0, 700);
    let other = unsent.change(0, 300);
    assert.deepEqual([unsent.bytes, unsent.allowance], [1_000, ample]);
    other = unsent.change(other, 301);
    assert.deepEqual([unsent.bytes, unsent.allowance], [1_001, tight]);
    one = unsent.change(one, 0);
    assert.deepEqual([unsent.bytes, unsent.allowance], [301, ample]);
    unsent.change(other, 0);
    unsent.change(one, 0);
    assert.equal(unsent.bytes, 0);
  });
});
