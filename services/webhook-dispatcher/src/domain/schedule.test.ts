import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nextDelayMs, parseDuration, parseRetrySchedule } from './schedule.ts';

const SPECIFIED = parseRetrySchedule('5s,5m,30m,2h,5h,10h,10h');
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const STEPS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];

describe('the retry schedule', () => {
  it('is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, then nothing [webhooks.retry.schedule]', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((scheduledAttempts) =>
      nextDelayMs(SPECIFIED, { scheduledAttempts, retryAfterMs: null }, () => 0),
    );
    assert.deepEqual(delays, [...STEPS, null]);
  });

  it('keeps the first step exactly and lengthens the others by up to a tenth, never less [webhooks.retry.schedule]', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), random, (scheduledAttempts, drawn) => {
        const step = STEPS[scheduledAttempts - 1] ?? 0;
        const delay = nextDelayMs(SPECIFIED, { scheduledAttempts, retryAfterMs: null }, () => drawn) ?? 0;
        assert.ok(delay >= step && delay <= Math.ceil(step * 1.1));
        if (scheduledAttempts === 1) assert.equal(delay, step);
      }),
    );
  });

  it('is lengthened by Retry-After to twice a step at most, and never shortened or made endless', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.double({ noNaN: true }), (scheduledAttempts, retryAfterMs) => {
        const step = STEPS[scheduledAttempts - 1];
        const delay = nextDelayMs(SPECIFIED, { scheduledAttempts, retryAfterMs }, () => 0);
        if (step === undefined) assert.equal(delay, null);
        else assert.ok(delay !== null && delay >= step && delay <= 2 * step, `${delay}`);
      }),
    );
    assert.equal(
      nextDelayMs(SPECIFIED, { scheduledAttempts: 1, retryAfterMs: 7_000 }, () => 0),
      7_000,
    );
    assert.equal(
      nextDelayMs(SPECIFIED, { scheduledAttempts: 1, retryAfterMs: 3_600_000 }, () => 0),
      10_000,
    );
  });

  it('is read from seven durations, each with its unit', () => {
    assert.deepEqual(parseRetrySchedule('1ms, 2ms,3s,4m,5h,6h,7h').stepsMs.slice(0, 3), [1, 2, 3_000]);
    for (const text of ['', '5s', '5s,5m,30m,2h,5h,10h', '5s,5m,30m,2h,5h,10h,10h,10h', '5,5m,30m,2h,5h,10h,10h'])
      assert.throws(() => parseRetrySchedule(text), text);
    for (const text of ['0s', '-5s', '5 s', '1d', '5S', '721h', '1e3ms', ''])
      assert.throws(() => parseDuration(text), text);
    assert.equal(parseDuration('72h'), 72 * HOUR);
  });
});
