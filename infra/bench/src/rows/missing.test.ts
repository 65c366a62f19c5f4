import assert from 'node:assert/strict';
import { compare } from './missing.ts';

describe('what sockets heard, beside the log', () => {
  it('is all of it, once and in order', () => {
    assert.deepEqual(compare(['9', '10', '11'], [['9', '10', '11']]), {
      expected: 3,
      missing: 0,
      doubled: 0,
      disordered: 0,
    });
  });

  it('counts what is missing, doubled and out of order, over all sockets', () => {
    const heard = compare(
      ['9', '10', '11'],
      [
        ['9', '11', '10'],
        ['9', '9', '11'],
        ['11', '9', '10'],
      ],
    );
    assert.deepEqual(heard, { expected: 9, missing: 1, doubled: 1, disordered: 3 });
  });
});
