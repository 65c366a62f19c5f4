import assert from 'node:assert/strict';
import fc from 'fast-check';
import { afterFailure, disabledReasonOf, disableRuleOf, type Failing } from './disable-rule.ts';
import { parseRetrySchedule } from './schedule.ts';

const HOUR = 3_600_000;
const RULE = disableRuleOf(72 * HOUR, parseRetrySchedule('5s,5m,30m,2h,5h,10h,10h'));
const NOT_FAILING: Failing = { consecutiveFailures: 0, failingSinceMs: null, lastFailureMs: null };

/** The time of the failure that switches an endpoint off; null when none does. */
function disabledAt(failuresMs: readonly number[]): number | null {
  let failing = NOT_FAILING;
  for (const atMs of failuresMs) {
    failing = afterFailure(failing, atMs, RULE);
    if (disabledReasonOf(failing, { atMs, statusCode: null }, RULE) !== null) return atMs;
  }
  return null;
}

const every = (hours: number, until: number): number[] =>
  Array.from({ length: Math.floor(until / hours) + 1 }, (_, at) => at * hours * HOUR);

describe('the rule that switches an endpoint off', () => {
  it('needs three days, however many attempts fail meanwhile [webhooks.disable.three-days]', () => {
    assert.equal(disabledAt(every(0.01, 71.9)), null);
    assert.equal(disabledAt(every(0.01, 80)), 72 * HOUR);
  });

  it('needs the attempts of a whole schedule, and no silence of a day and a half [webhooks.disable.three-days]', () => {
    const sparse = every(24, 24 * 20);
    assert.equal(disabledAt(sparse), 7 * 24 * HOUR);
    assert.equal(disabledAt(every(37, 37 * 40)), null);
  });

  it('switches off between 72 and 82 hours what has an event each day [webhooks.disable.three-days]', () => {
    const schedule = [0, 5 / 3600, 0.085, 0.585, 2.585, 7.585, 17.585, 27.585];
    const failures = [0, 1, 2, 3, 4].flatMap((day) => schedule.map((hours) => (day * 24 + hours) * HOUR));
    const at = disabledAt(failures.toSorted((one, other) => one - other)) ?? 0;
    assert.ok(at >= 72 * HOUR && at <= 82 * HOUR, `${at / HOUR} h`);
  });

  it('never switches off before its time, whatever the failures [webhooks.disable.three-days]', () => {
    const times = fc.array(fc.integer({ min: 0, max: 400 * HOUR }), { maxLength: 60 });
    fc.assert(
      fc.property(times, (unordered) => {
        const failures = unordered.toSorted((one, other) => one - other);
        const at = disabledAt(failures);
        if (at !== null) {
          assert.ok(at - (failures[0] ?? 0) >= 72 * HOUR);
          assert.ok(failures.filter((ms) => ms <= at).length >= 8);
        }
      }),
    );
  });

  it('switches off at the first 410 [webhooks.disable.gone]', () => {
    const failing = afterFailure(NOT_FAILING, 0, RULE);
    assert.equal(disabledReasonOf(failing, { atMs: 0, statusCode: 410 }, RULE), 'gone');
    assert.equal(disabledReasonOf(failing, { atMs: 0, statusCode: 404 }, RULE), null);
  });

  it('takes no wait of the schedule for a silence, whatever its time is set to', () => {
    const scaled = disableRuleOf(300, parseRetrySchedule('50ms,60ms,70ms,80ms,90ms,100ms,500ms'));
    assert.equal(scaled.silenceMsMax, 1_000);
    assert.equal(RULE.silenceMsMax, 36 * HOUR);
  });
});
