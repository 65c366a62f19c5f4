import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dayOf, todayIn } from './days.ts';
import { WordError } from './word-error.ts';

/** A Monday. */
const MONDAY = new Date('2026-11-23T02:30:00Z');
const monday = todayIn(undefined, MONDAY);
const anyDay = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2090-12-31'), noInvalidDate: true })
  .map((date) => todayIn('UTC', date));
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

describe('words for days', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['today', '2026-11-23'],
    [' Tomorrow ', '2026-11-24'],
    ['YESTERDAY', '2026-11-22'],
    ['monday', '2026-11-30'],
    ['next monday', '2026-11-30'],
    ['last monday', '2026-11-16'],
    ['friday', '2026-11-27'],
    ['fri', '2026-11-27'],
    ['on  friday', '2026-11-27'],
    ['last sunday', '2026-11-22'],
    ['next week', '2026-11-30'],
    ['end of month', '2026-11-30'],
    ['in 3 days', '2026-11-26'],
    ['in a week', '2026-11-30'],
    ['in one month', '2026-12-23'],
    ['2 weeks ago', '2026-11-09'],
    ['a year ago', '2025-11-23'],
    ['+2w', '2026-12-07'],
    ['-3d', '2026-11-20'],
    ['+1m', '2026-12-23'],
    ['+1y', '2027-11-23'],
    ['2026-12-01', '2026-12-01'],
    ['2028-02-29', '2028-02-29'],
    ['-1950y', '0076-11-23'],
    ['+25m', '2028-12-23'],
  ];
  for (const [word, day] of cases)
    it(`reads "${word}" on Monday, 2026-11-23 as ${day}`, () => assert.equal(dayOf(word, monday), day));

  it('ends a month at its last day', () =>
    assert.equal(dayOf('in 1 month', todayIn('UTC', new Date('2027-01-31T12:00:00Z'))), '2027-02-28'));

  it('takes the day of the time zone', () => {
    assert.equal(dayOf('today', todayIn('America/New_York', MONDAY)), '2026-11-22');
    assert.equal(dayOf('tomorrow', todayIn('Pacific/Auckland', MONDAY)), '2026-11-24');
  });

  it('refuses other words with examples and the day of today', () => {
    const others = [
      '',
      'soon',
      '2026-02-30',
      '2026-13-01',
      '26-1-1',
      'in 3 parsecs',
      '+9999y',
      'next today',
      'mo',
      '\u0000',
    ];
    for (const word of [...others, '__proto__', 'constructor', 'today; drop table', `in ${'9'.repeat(400)} days`]) {
      assert.throws(
        () => dayOf(word, monday),
        (error) => error instanceof WordError && /Today is 2026-11-23 in UTC/.test(error.message),
        word,
      );
    }
  });

  it('refuses a time zone that does not exist, with examples', () => {
    for (const zone of ['Mars/Olympus', '', 'UTC\u0000', '../etc/passwd'])
      assert.throws(() => todayIn(zone, MONDAY), /Europe\/Berlin/, zone);
  });

  it('reads every day as itself, and every weekday as one of the next seven or the last seven days', () =>
    fc.assert(
      fc.property(anyDay, fc.constantFrom(...WEEKDAYS), (today, weekday) => {
        const date = today.day;
        assert.equal(dayOf(date, today), date);
        const next = Temporal.PlainDate.from(dayOf(`next ${weekday}`, today));
        const last = Temporal.PlainDate.from(dayOf(`last ${weekday}`, today));
        const ahead = Temporal.PlainDate.from(date).until(next).days;
        assert.ok(ahead >= 1 && ahead <= 7);
        assert.equal(WEEKDAYS[next.dayOfWeek - 1], weekday);
        assert.equal(WEEKDAYS[last.dayOfWeek - 1], weekday);
        const apart = last.until(next).days;
        assert.ok(apart === 7 || apart === 14, `${apart} days between ${last.toString()} and ${next.toString()}`);
      }),
    ));

  it('counts days, weeks, months and years as Temporal does', () => {
    const units = fc.constantFrom('day', 'week', 'month', 'year');
    fc.assert(
      fc.property(anyDay, fc.integer({ min: -1900, max: 1900 }), units, (today, count, unit) => {
        const word = count < 0 ? `${-count} ${unit}s ago` : `in ${count} ${unit}s`;
        const expected = Temporal.PlainDate.from(today.day).add({ [`${unit}s`]: count });
        assert.equal(dayOf(word, today), expected.toString());
      }),
    );
  });

  it('either gives a day or a WordError, whatever the word', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), anyDay, (word, today) => {
        try {
          assert.match(dayOf(word, today), /^\d{4}-\d{2}-\d{2}$/);
        } catch (error) {
          assert.ok(error instanceof WordError, String(error));
        }
      }),
    ));
});
