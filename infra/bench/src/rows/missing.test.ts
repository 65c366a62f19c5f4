import assert from 'node:assert/strict';
import { compare } from './missing.ts';

describe('comparing received ids with the log', () => {
  it('finds nothing when all were received once and in order', () =>
    assert.deepEqual(compare(['9', '10', '11'], [['9', '10', '11']]), {
      expected: 3,
      missing: 0,
      doubled: 0,
      disordered: 0,
    }));

  it('counts missing, doubled and disordered ids over all sockets', () => {
    const delivery = compare(
      ['9', '10', '11'],
      [
        ['9', '11', '10'],
        ['9', '9', '11'],
        ['11', '9', '10'],
      ],
    );
    assert.deepEqual(delivery, { expected: 9, missing: 1, doubled: 1, disordered: 3 });
  });
});
