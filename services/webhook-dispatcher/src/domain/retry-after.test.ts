import fc from 'fast-check';
import assert from 'node:assert/strict';
import { parseRetryAfter } from './retry-after.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;

describe('Retry-After', () => {
  it('is read in seconds and as a date, and is a day at most', () => {
    for (const [value, ms] of [
      ['1', 1_000],
      [' 30 ', 30_000],
      ['3600', 3_600_000],
      ['86401', DAY_MS],
      ['99999999999', DAY_MS],
      ['99999999999999999999', DAY_MS],
      ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
      ['Fri, 01 Jan 2027 00:00:00 GMT', DAY_MS],
    ] as const) {
      assert.equal(parseRetryAfter(value, NOW_MS), ms, value);
    }
  });

  it('is as if absent when it is in the past or not understandable', () => {
    for (const value of [
      undefined,
      '',
      '0',
      '-1',
      '1.5',
      '1e3',
      '0x10',
      'NaN',
      'Infinity',
      'soon',
      '2026-01-02',
      '9'.repeat(400),
      'Wed, 21 Oct 2015 07:28:00 GMT',
      'Xxx, 99 Yyy 2026 99:99:99 GMT',
      ['1', '2'],
    ]) {
      assert.equal(parseRetryAfter(value, NOW_MS), null, String(value));
    }
  });

  it('is never a number that a schedule cannot use', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.date().map(String)), (value) => {
        const ms = parseRetryAfter(value, NOW_MS);
        return ms === null || (ms > 0 && ms <= DAY_MS);
      }),
    ));
});
