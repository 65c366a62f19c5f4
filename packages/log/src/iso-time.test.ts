import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { isoTime } from './iso-time.ts';

describe('the time of an entry', () => {
  it('equals toISOString for any order of times', () => {
    // Times close to each other, around the ends of minutes and years, and before 1970.
    const start = fc.constantFrom(Date.UTC(2026, 11, 31, 23, 59), 0, -60_000, Date.UTC(2024, 1, 28, 23, 59));
    const steps = fc.array(fc.integer({ min: -3_000, max: 130_000 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(start, steps, (from, all) => {
        for (const step of all) assert.equal(isoTime(from + step), new Date(from + step).toISOString());
      }),
    );
  });
});
