import assert from 'node:assert/strict';
import { numbersOf } from '../src/numbers.ts';

describe('numbers of the command line', () => {
  const least = { seconds: 0, writers: 1 };

  it('are parsed', () =>
    assert.deepEqual(numbersOf({ seconds: '0.5', writers: '8' }, least), { seconds: 0.5, writers: 8 }));

  for (const wrong of ['', 'ten', '-1', '1e3', '0x8', ' 8', 'NaN', 'Infinity', '0']) {
    it(`are refused with the name of the option: "${wrong}"`, () =>
      assert.throws(() => numbersOf({ seconds: '1', writers: wrong }, least), {
        message: `--writers must be a number of at least 1, not "${wrong}".`,
      }));
  }
});
