import assert from 'node:assert/strict';
import { repeatText } from './repeat-text.ts';

/** The anchor is Monday, 5 January 2026. */
const textOf = (repeatRule: string | null, repeatFrom: 'date' | 'completion' = 'date', repeatAnchor = '2026-01-05') =>
  repeatText({ repeatRule, repeatFrom, repeatAnchor });

const TEXTS: readonly (readonly [rule: string, text: string])[] = [
  ['FREQ=DAILY', 'every day'],
  ['FREQ=DAILY;INTERVAL=3;COUNT=5', 'every 3 days, 5 times'],
  ['FREQ=DAILY;BYMONTH=1;UNTIL=20260131', 'every day in January, until 2026-01-31'],
  ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', 'every weekday'],
  ['FREQ=WEEKLY', 'every Monday'],
  ['FREQ=WEEKLY;BYDAY=MO,TH', 'every Monday and Thursday'],
  ['FREQ=WEEKLY;BYDAY=TU,MO,FR,WE,TH', 'every weekday'],
  ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU', 'every day'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR', 'every 2 weeks on Monday, Wednesday and Friday'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR', 'every 2 weeks on each weekday'],
  ['FREQ=MONTHLY', 'every month on the 5th day of the month'],
  ['FREQ=MONTHLY;BYMONTHDAY=1,-2,-1', 'every month on the 1st, 2nd last and last day of the month'],
  ['FREQ=MONTHLY;INTERVAL=3;BYDAY=2TU,-1FR', 'every 3 months on the 2nd Tuesday and last Friday'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', 'every month on the last weekday'],
  ['FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1', 'every month on Monday and Tuesday, of these days only the 1st'],
  ['FREQ=YEARLY', 'every year on January 5'],
  ['FREQ=YEARLY;BYMONTH=4,8', 'every year on the 5th day of the month in April and August'],
  ['FREQ=YEARLY;BYYEARDAY=100,-1', 'every year on the 100th and last day of the year'],
  ['FREQ=YEARLY;BYWEEKNO=22;BYDAY=MO', 'every year on Monday in the 22nd week of the year'],
  ['FREQ=DAILY;INTERVAL=2;BYDAY=FR;UNTIL=20301231T090000Z', 'every 2 days on Friday, until 2030-12-31 09:00'],
];

describe('the words of a repeat rule', () => {
  it('say on which days a task repeats, and until when', () => {
    for (const [rule, text] of TEXTS) assert.equal(textOf(rule), text, rule);
  });

  it('say that days count from the completion, where nothing but the rule names a day', () => {
    assert.equal(textOf('FREQ=WEEKLY;BYDAY=MO,TH', 'completion'), 'every Monday and Thursday, after completion');
    assert.equal(textOf('FREQ=WEEKLY', 'completion'), 'every week, after completion');
    assert.equal(textOf('FREQ=MONTHLY;INTERVAL=2', 'completion'), 'every 2 months, after completion');
  });

  it('name the last day where a month may be shorter than the day of the anchor', () => {
    assert.equal(textOf('FREQ=MONTHLY', 'date', '2026-01-31'), 'every month on the 31st or last day of the month');
    assert.equal(textOf('FREQ=YEARLY', 'date', '2028-02-29'), 'every year on February 29 or 28');
  });

  it('are none for a task that does not repeat', () => assert.equal(textOf(null), null));
});
