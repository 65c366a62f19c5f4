import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RRuleTemporal } from 'rrule-temporal';
import { readRepeatRule } from '../repeat-rule.ts';
import { walkDays } from '../../test/calendar-walk.ts';
import { hasNoDay, ruleDays } from './rule-days.ts';

const daysOf = (rule: string, anchor: string, count: number, after = anchor): readonly string[] =>
  ruleDays({ rule, anchor }, after, count);

const NEVER = [
  'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=4',
  'FREQ=YEARLY;INTERVAL=9999',
  'FREQ=MONTHLY;INTERVAL=9999',
];

const BY_WEEKS = [
  'FREQ=YEARLY;BYWEEKNO=1,53;BYDAY=MO,SU',
  'FREQ=YEARLY;BYWEEKNO=-1,20;BYDAY=WE',
  'FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1,-2;BYDAY=TU;WKST=SU',
  'FREQ=YEARLY;BYWEEKNO=10,11;BYDAY=MO,TH;BYMONTH=3',
  'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO',
  'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU',
  'FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,FR;BYSETPOS=-1;WKST=WE',
];

describe('the days of a repeat rule', () => {
  it('are clamped to the last day of a shorter month without drift, unless the rule names the day', () => {
    const inMonths = ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'];
    assert.deepEqual(daysOf('FREQ=MONTHLY', '2026-01-31', 4), inMonths);
    assert.deepEqual(daysOf('FREQ=MONTHLY', '2026-01-30', 3), ['2026-02-28', '2026-03-30', '2026-04-30']);
    assert.deepEqual(daysOf('FREQ=MONTHLY;BYMONTHDAY=31', '2026-01-31', 2), ['2026-03-31', '2026-05-31']);
    const leap = ['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29'];
    assert.deepEqual(daysOf('FREQ=YEARLY', '2028-02-29', 4), leap);
    const twice = ['2026-04-30', '2026-08-31', '2027-04-30'];
    assert.deepEqual(daysOf('FREQ=YEARLY;BYMONTH=4,8', '2026-01-31', 3), twice);
  });

  it('are the last day, the last Friday and the last working day of 48 months as the calendar has them', () => {
    for (const by of ['BYMONTHDAY=-1', 'BYDAY=-1FR', 'BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1']) {
      const rule = `FREQ=MONTHLY;${by}`;
      assert.deepEqual(daysOf(rule, '2026-01-01', 48), walkDays(rule, '2026-01-01', '2026-01-01', '2029-12-31'));
    }
  });

  it('are none, in bounded time, where a rule has no day or a far one', () => {
    for (const rule of NEVER) assert.deepEqual(daysOf(rule, '2026-01-01', 3), [], rule);
  });

  it('are those that a plain walk over the calendar finds, for any rule', () =>
    fc.assert(
      fc.property(anyRule, anyDay, fc.integer({ min: 0, max: 800 }), anyCount, (rule, anchor, later, count) => {
        fc.pre(readRepeatRule(rule).ok);
        const after = Temporal.PlainDate.from(anchor).add({ days: later }).toString();
        const until = Temporal.PlainDate.from(after).add({ years: 3 }).toString();
        const walked = walkDays(rule, anchor, after, until).slice(0, count);
        const found = ruleDays({ rule, anchor }, after, count, until);
        assert.deepEqual(found, walked, `${rule} from ${anchor} after ${after}`);
      }),
      { numRuns: Number(process.env['REPEAT_RUNS'] ?? 60) },
    ));

  it('by weeks of a year, and by weeks that begin on other days, are those that a library finds', () => {
    const anchor = '2026-01-05';
    const [dtstart, until] = [anchor, '2040-12-31'].map((day) => Temporal.PlainDate.from(day).toZonedDateTime('UTC'));
    for (const rule of BY_WEEKS) {
      const library = new RRuleTemporal({ rruleString: rule, dtstart: dtstart!, until: until!, maxIterations: 10_000 });
      const days = library.all().map((day) => day.toPlainDate().toString());
      assert.deepEqual(ruleDays({ rule, anchor }, '2026-01-04', 10_000, '2040-12-31'), days, rule);
    }
  });

  it('are found in the time of a walk over them, whatever a rule names and also where it has none [never.one-takes-all]', () => {
    const numbers = (from: number, to: number): string =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index).join(',');
    const weekdays = WEEKDAYS.join(',');
    const slow = [
      `FREQ=YEARLY;BYYEARDAY=${numbers(100, 159)};BYWEEKNO=1,2,3`,
      `FREQ=YEARLY;BYWEEKNO=${numbers(1, 53)};BYDAY=${weekdays};BYMONTH=6;BYSETPOS=366`,
      `FREQ=WEEKLY;BYDAY=${weekdays};BYSETPOS=${numbers(300, 359)}`,
      `FREQ=MONTHLY;BYDAY=${weekdays};BYSETPOS=${numbers(300, 359)}`,
    ];
    for (let day = 1; day <= 28; day += 1)
      for (const rule of slow)
        for (const more of ['', ';WKST=SU', ';INTERVAL=2'])
          assert.deepEqual(daysOf(`${rule}${more}`, `2026-02-${String(day).padStart(2, '0')}`, 1), []);
  }).timeout(20_000);

  it('that never come again are found out, whatever the dates of the task [sync.mutate.repeat-rule]', () => {
    const dates = { startDate: '2026-06-01', deadlineAt: null };
    for (const rule of NEVER) assert.equal(hasNoDay({ rule, ...dates }, '2026-06-01'), true, rule);
    for (const rule of ['FREQ=DAILY', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', 'FREQ=MONTHLY;BYDAY=-1FR']) {
      assert.equal(hasNoDay({ rule, startDate: null, deadlineAt: null }, '2026-06-01'), false, rule);
      assert.equal(hasNoDay({ rule, startDate: null, deadlineAt: '2031-06-01' }, '2026-06-01'), false, rule);
    }
  });
});

const anyCount = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 11, max: 800 }));
const anyDay = fc
  .integer({ min: 0, max: 3000 })
  .map((days) => Temporal.PlainDate.from('2024-01-01').add({ days }).toString());
const some = (values: readonly (string | number)[], maxLength = 3): fc.Arbitrary<string> =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength }).map((list) => list.join(','));
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const maybe = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.option(value, { freq: 2 }).map((given) => (given === null ? '' : `;${name}=${given}`));
const anyRule = fc
  .tuple(
    fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
    maybe('INTERVAL', fc.integer({ min: 1, max: 5 }).map(String)),
    maybe('BYMONTH', some([1, 2, 4, 7, 12])),
    maybe('BYMONTHDAY', some([1, 13, 28, 29, 30, 31, -1, -3])),
    maybe('BYDAY', fc.oneof(some(WEEKDAYS), some(['1MO', '-1FR', '2WE']))),
    maybe('BYSETPOS', some([1, -1, 2])),
  )
  .map(([frequency, ...parts]) => `FREQ=${frequency}${parts.join('')}`);
