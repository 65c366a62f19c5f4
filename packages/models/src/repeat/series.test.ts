import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Calendar, Occurrence } from './series.ts';
import {
  afterSkip,
  beginningOf,
  calendarAt,
  completionDay,
  nextAfterCompletion,
  nextByDate,
  nextDueDay,
  previewDays,
  ruleFault,
} from './series.ts';

/** Its first day is Monday 1 June 2026. */
const seriesOf = (rule: string, changes: Partial<Occurrence> = {}): Occurrence => ({
  rule,
  from: 'date',
  anchor: '2026-06-01',
  index: 1,
  startDate: '2026-06-01',
  deadlineAt: null,
  ...changes,
});
const on = (today: string, timeZone = 'UTC'): Calendar => ({ today, timeZone });
const dayAt = (moment: string, zone: string): string => calendarAt(moment, zone).today;
const completed = (occurrence: Occurrence, day: string, today = day) => nextAfterCompletion(occurrence, day, on(today));

describe('the next occurrence of a completed task', () => {
  it('is on the next day of the rule', () => {
    const next = completed(seriesOf('FREQ=DAILY'), '2026-06-01');
    assert.deepEqual(next, {
      day: '2026-06-02',
      anchor: '2026-06-01',
      index: 2,
      rule: 'FREQ=DAILY',
      startDate: '2026-06-02',
      deadlineAt: null,
    });
  });

  it('is today when the task was late and today is a day of the rule, so late completion swallows nothing', () =>
    assert.equal(completed(seriesOf('FREQ=DAILY'), '2026-06-04')?.day, '2026-06-04'));

  it('is strictly after its own day when the task was completed early', () =>
    assert.equal(completed(seriesOf('FREQ=DAILY'), '2026-05-31')?.day, '2026-06-02'));

  it('counts from the day of completion when the rule says so, and starts the rule anew there', () => {
    const series = seriesOf('FREQ=DAILY;INTERVAL=3', { from: 'completion' });
    const next = completed(series, '2026-06-04');
    assert.deepEqual([next?.day, next?.anchor], ['2026-06-07', '2026-06-07']);
    const weekdays = seriesOf('FREQ=WEEKLY;BYDAY=MO,TH', { from: 'completion' });
    assert.equal(completed(weekdays, '2026-06-02')?.day, '2026-06-04');
    const undated = seriesOf('FREQ=DAILY', { from: 'completion', startDate: null });
    assert.equal(completed(undated, '2026-06-04')?.startDate, '2026-06-05');
  });

  it('keeps the phase of its anchor, however late the completion', () => {
    const series = seriesOf('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO');
    assert.equal(completed(series, '2026-06-20')?.day, '2026-06-29');
  });

  it('is never before today, also when the completion was a week ago or lies in the future', () => {
    assert.equal(completed(seriesOf('FREQ=DAILY'), '2026-06-01', '2026-06-08')?.day, '2026-06-08');
    const series = seriesOf('FREQ=DAILY;INTERVAL=3', { from: 'completion' });
    assert.equal(completed(series, '2026-06-01', '2026-06-08')?.day, '2026-06-10');
    assert.equal(completionDay('2026-06-09T10:00:00.000Z', on('2026-06-08')), '2026-06-08');
    assert.equal(completionDay('2026-06-07T13:00:00.000Z', on('2026-06-09', 'Pacific/Auckland')), '2026-06-08');
  });

  it('moves both dates by the same distance', () => {
    const next = completed(seriesOf('FREQ=WEEKLY', { deadlineAt: '2026-06-03' }), '2026-06-01');
    assert.deepEqual([next?.startDate, next?.deadlineAt], ['2026-06-08', '2026-06-10']);
    const due = completed(seriesOf('FREQ=WEEKLY', { startDate: null, deadlineAt: '2026-06-01' }), '2026-06-01');
    assert.deepEqual([due?.startDate, due?.deadlineAt], [null, '2026-06-08']);
  });

  it('ends by COUNT, where the first task is the first one, and the last has no rule', () => {
    const series = seriesOf('FREQ=DAILY;COUNT=3');
    const second = completed(series, '2026-06-01');
    assert.deepEqual([second?.index, second?.rule], [2, series.rule]);
    const third = completed({ ...series, index: 2, startDate: '2026-06-02' }, '2026-06-02');
    assert.deepEqual([third?.index, third?.rule], [3, null]);
    assert.equal(completed({ ...series, index: 3 }, '2026-06-03'), null);
    // Its days passed while no scheduler ran.
    assert.equal(completed(series, '2026-06-09'), null);
  });

  it('ends after the day of UNTIL, which is still made', () => {
    const series = seriesOf('FREQ=DAILY;UNTIL=20260602');
    assert.equal(completed(series, '2026-06-01')?.day, '2026-06-02');
    assert.equal(completed({ ...series, startDate: '2026-06-02' }, '2026-06-02'), null);
  });

  it('is none after the year 9999', () => {
    const last = seriesOf('FREQ=DAILY', { anchor: '9999-12-31', startDate: '9999-12-31' });
    assert.deepEqual([completed(last, '9999-12-31'), nextDueDay(last, on('2026-06-01'))], [null, null]);
    const due = { startDate: '9998-12-30', deadlineAt: '9999-12-31' };
    assert.equal(completed(seriesOf('FREQ=DAILY', { anchor: '9998-12-30', ...due }), '9998-12-30'), null);
    const { startDate, deadlineAt } = last;
    assert.match(ruleFault({ rule: last.rule, startDate, deadlineAt }, on('2026-06-01')) ?? '', /no day/);
  });

  it('is the first day of the rule after one that a person chose', () => {
    const moved = seriesOf('FREQ=WEEKLY;BYDAY=MO', { startDate: '2026-06-10' });
    assert.equal(completed(moved, '2026-06-10')?.day, '2026-06-15');
  });
});

describe('the occurrence that is made by its date', () => {
  it('is that of the day that has come, and none before', () => {
    assert.equal(nextByDate(seriesOf('FREQ=DAILY'), on('2026-06-01')), null);
    assert.equal(nextByDate(seriesOf('FREQ=DAILY'), on('2026-06-02'))?.day, '2026-06-02');
    assert.equal(nextDueDay(seriesOf('FREQ=WEEKLY'), on('2026-06-02')), '2026-06-08');
    assert.equal(nextDueDay(seriesOf('FREQ=WEEKLY', { from: 'completion' }), on('2026-06-02')), null);
    assert.equal(nextDueDay(seriesOf('FREQ=DAILY;COUNT=1'), on('2026-06-01')), null);
    assert.equal(nextByDate(seriesOf('FREQ=DAILY', { from: 'completion' }), on('2026-07-01')), null);
  });

  it('is that of the latest day alone after days on which nothing was made, and COUNT still ends on its day', () => {
    assert.deepEqual(nextByDate(seriesOf('FREQ=DAILY;COUNT=20'), on('2026-06-11'))?.index, 11);
    assert.equal(nextByDate(seriesOf('FREQ=DAILY'), on('2036-06-01'))?.day, '2036-06-01');
    assert.equal(nextByDate(seriesOf('FREQ=DAILY;UNTIL=20260605'), on('2026-06-30'))?.day, '2026-06-05');
    const last = nextByDate(seriesOf('FREQ=DAILY;COUNT=5'), on('2026-06-30'));
    assert.deepEqual([last?.day, last?.index, last?.rule], ['2026-06-05', 5, null]);
  });

  it('counts the days that passed, also without COUNT', () => {
    assert.equal(nextByDate(seriesOf('FREQ=DAILY'), on('2026-06-11'))?.index, 11);
    assert.equal(completed(seriesOf('FREQ=DAILY'), '2026-06-11')?.index, 11);
    const ancient = { ...seriesOf('FREQ=YEARLY'), anchor: '0900-06-01', startDate: '0900-06-01' };
    assert.equal(completed(ancient, '2026-06-11')?.index, 11, 'those of ten years, because each year costs a search');
  });

  it('of a series that waits is that of the first day to come, unless the rule ends before', () => {
    const after = (rule: string) => nextDueDay(seriesOf(rule), { timeZone: 'UTC' }, '2026-06-10');
    assert.equal(after('FREQ=DAILY'), '2026-06-11');
    assert.equal(after('FREQ=DAILY;COUNT=11'), '2026-06-11');
    assert.equal(after('FREQ=DAILY;COUNT=10'), null);
    assert.equal(after('FREQ=DAILY;UNTIL=20260610'), null);
  });

  it('ends with the day of UNTIL in the time zone of the workspace; times of rules count for nothing else', () => {
    const rule = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20260602T200000Z';
    assert.equal(nextByDate(seriesOf(rule), on('2026-06-09'))?.day, '2026-06-02');
    assert.equal(nextByDate(seriesOf(rule), on('2026-06-09', 'Pacific/Auckland'))?.day, '2026-06-03');
    const dates = { startDate: '2026-06-01', deadlineAt: null };
    assert.equal(ruleFault({ rule, ...dates }, on('2026-06-02')), null);
    assert.match(ruleFault({ rule, ...dates }, on('2026-06-03')) ?? '', /UNTIL has passed/);
  });

  it('of a rule whose only day was missed has that day, because it has not come again', () =>
    assert.equal(nextByDate(seriesOf('FREQ=YEARLY'), on('2027-08-01'))?.day, '2027-06-01'));

  it('never has a day twice and misses none, whatever the days on which a scheduler runs', () => {
    const runs = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 });
    const rules = ['FREQ=DAILY', 'FREQ=DAILY;INTERVAL=2', 'FREQ=WEEKLY;BYDAY=MO,WE,FR', 'FREQ=MONTHLY'];
    fc.assert(
      fc.property(fc.constantFrom(...rules), runs, (rule, steps) => {
        let occurrence = seriesOf(rule);
        let today = occurrence.anchor;
        for (const days of steps) {
          today = Temporal.PlainDate.from(today).add({ days }).toString();
          const next = nextByDate(occurrence, on(today));
          const due = nextDueDay(occurrence, on(today));
          assert.equal(next === null, due === null || due > today);
          if (next === null) continue;
          assert.ok(next.day > (occurrence.startDate ?? '') && next.day <= today);
          occurrence = Object.assign(next, { rule, from: 'date' as const });
          assert.equal(nextByDate(occurrence, on(today)), null);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('the beginning of a day', () => {
  it('follows a time zone by the name that it was given, also an old one, and UTC for an unknown name', () => {
    const at = '2026-06-01T22:30:00.000Z';
    assert.deepEqual(calendarAt(at, 'Europe/Kiev'), { today: '2026-06-02', timeZone: 'Europe/Kiev' });
    assert.deepEqual(calendarAt(at, 'Mars/Olympus'), { today: '2026-06-01', timeZone: 'UTC' });
  });

  it('is the first moment of it, where midnight does not exist', () => {
    const withoutMidnight = [
      ['Africa/Cairo', '2027-04-30'],
      ['America/Santiago', '2027-09-05'],
      ['Asia/Beirut', '2027-03-28'],
      ['America/Havana', '2027-03-14'],
      ['Atlantic/Azores', '2027-03-28'],
    ] as const;
    for (const [zone, day] of withoutMidnight) {
      const beginning = beginningOf(day, zone);
      assert.equal(dayAt(beginning, zone), day, zone);
      const before = Temporal.Instant.from(beginning).subtract({ milliseconds: 1 }).toString();
      assert.ok(dayAt(before, zone) < day, zone);
    }
  });

  it('of every day of ten years in every zone lies in that day, and its last moment before in an earlier one', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 3650 }), (zone, days) => {
        const day = Temporal.PlainDate.from('2024-01-01').add({ days }).toString();
        const beginning = beginningOf(day, zone);
        assert.equal(dayAt(beginning, zone), day);
        assert.ok(dayAt(Temporal.Instant.from(beginning).subtract({ milliseconds: 1 }).toString(), zone) < day);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a repeated task', () => {
  it('that is skipped goes to the next day of its rule, and counts the days that passed', () => {
    const skipped = (changes: Partial<Occurrence>, today: string, rule = 'FREQ=DAILY;COUNT=9') =>
      afterSkip(seriesOf(rule, changes), on(today));
    assert.deepEqual([skipped({}, '2026-06-01')?.day, skipped({}, '2026-06-01')?.index], ['2026-06-02', 2]);
    assert.deepEqual([skipped({}, '2026-06-05')?.day, skipped({}, '2026-06-05')?.index], ['2026-06-05', 5]);
    assert.equal(skipped({ index: 9 }, '2026-06-01'), null);
    const every3 = 'FREQ=DAILY;INTERVAL=3';
    assert.equal(skipped({ from: 'completion' }, '2026-06-05', every3)?.day, '2026-06-08');
    assert.equal(skipped({ from: 'completion', startDate: '2026-06-10' }, '2026-06-05', every3)?.day, '2026-06-13');
  });

  it('has a preview of its first days, which ends as the series does', () => {
    const preview = (rule: string, from: Occurrence['from'] = 'date'): string[] => [
      ...previewDays({ ...seriesOf(rule), from }, on('2026-06-01')).take(4),
    ];
    assert.deepEqual(preview('FREQ=WEEKLY;COUNT=2'), ['2026-06-01', '2026-06-08']);
    assert.deepEqual(preview('FREQ=DAILY;UNTIL=20260603'), ['2026-06-01', '2026-06-02', '2026-06-03']);
    const everyThird = ['2026-06-01', '2026-06-04', '2026-06-07', '2026-06-10'];
    assert.deepEqual(preview('FREQ=DAILY;INTERVAL=3', 'completion'), everyThird);
  });
});
