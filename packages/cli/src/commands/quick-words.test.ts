import { todayIn } from '@wts/models/words';
import { readRepeatRule } from '@wts/models';
import assert from 'node:assert/strict';
import { quickWordsOf, type QuickWords } from './quick-words.ts';
import { repeatOf } from './repeat-words.ts';

/** A Wednesday. */
const today = todayIn('UTC', new Date('2026-11-25T12:00:00Z'));

const NOTHING: Omit<QuickWords, 'title'> = {
  tags: [],
  people: [],
  priority: null,
  deadlineAt: null,
  startDate: null,
  repeat: null,
};

describe('quick words', () => {
  const cases: readonly (readonly [text: string, said: Partial<QuickWords>])[] = [
    ['Call the bank', { title: 'Call the bank' }],
    ['Call the bank tomorrow', { title: 'Call the bank', deadlineAt: '2026-11-26' }],
    [
      'Call the bank due fri #"Big project" #urgent @ana !high',
      {
        title: 'Call the bank',
        deadlineAt: '2026-11-27',
        tags: ['Big project', 'urgent'],
        people: ['ana'],
        priority: 2,
      },
    ],
    ['Write it by next monday starts today', { title: 'Write it', deadlineAt: '2026-11-30', startDate: '2026-11-25' }],
    ['#home Ship in 3 days !1', { title: 'Ship', tags: ['home'], deadlineAt: '2026-11-28', priority: 1 }],
    ['Release 2026-12-24', { title: 'Release', deadlineAt: '2026-12-24' }],
  ];

  it('say project, labels, person, priority and days, and the rest is the title', () => {
    for (const [text, said] of cases)
      assert.deepEqual(quickWordsOf(text, today), { ...NOTHING, title: '', ...said }, text);
  });

  it('say how a task repeats', () =>
    assert.deepEqual(quickWordsOf('Pay rent every 1st #home @ana !2', today), {
      ...NOTHING,
      title: 'Pay rent',
      tags: ['home'],
      people: ['ana'],
      priority: 2,
      repeat: { rule: 'FREQ=MONTHLY;BYMONTHDAY=1', from: 'date', firstDay: '2026-12-01' },
    }));

  it('leave what only looks like a day, a mark or a repetition in the title', () => {
    for (const title of [
      'Tomorrow',
      'Protect the plants from the sun',
      'Check every door',
      'Win!',
      'Mail a@b.example',
      'Fix C#',
      'Prio !9',
      'Due',
      'monday',
    ])
      assert.deepEqual(quickWordsOf(title, today), { ...NOTHING, title });
    assert.equal(quickWordsOf(String.raw`Fix issue \#12`, today).title, 'Fix issue #12');
  });
});

describe('words about repetition', () => {
  const rules: readonly (readonly [words: string, rule: string, firstDay?: string])[] = [
    ['every day', 'FREQ=DAILY'],
    ['daily', 'FREQ=DAILY'],
    ['every other week', 'FREQ=WEEKLY;INTERVAL=2'],
    ['every 2 weeks on mon and thu', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH', '2026-11-26'],
    ['every monday, wednesday and friday', 'FREQ=WEEKLY;BYDAY=MO,WE,FR', '2026-11-25'],
    ['every weekday', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', '2026-11-25'],
    ['every weekend', 'FREQ=WEEKLY;BYDAY=SA,SU', '2026-11-28'],
    ['every 1st and 15th', 'FREQ=MONTHLY;BYMONTHDAY=1,15', '2026-12-01'],
    ['every last day of the month', 'FREQ=MONTHLY;BYMONTHDAY=-1', '2026-11-30'],
    ['every last friday', 'FREQ=MONTHLY;BYDAY=-1FR', '2026-11-27'],
    ['every 2nd tuesday of the month', 'FREQ=MONTHLY;BYDAY=2TU', '2026-12-08'],
    ['every quarter', 'FREQ=MONTHLY;INTERVAL=3'],
    ['every month on the 31st', 'FREQ=MONTHLY;BYMONTHDAY=31', '2026-12-31'],
    ['every december 24', 'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24', '2026-12-24'],
    ['every 29th february', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2028-02-29'],
    ['every day, 5 times', 'FREQ=DAILY;COUNT=5'],
    ['every monday until 2027-01-31', 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270131', '2026-11-30'],
    ['freq=weekly;byday=mo', 'FREQ=WEEKLY;BYDAY=MO'],
  ];

  it('become a rule that the service accepts, and its first day', () => {
    for (const [words, rule, firstDay = today.day] of rules) {
      assert.deepEqual(repeatOf(words, today), { rule, from: 'date', firstDay }, words);
      assert.ok(readRepeatRule(rule).ok, rule);
    }
  });

  it('count from the completion where they say so', () => {
    const said = { rule: 'FREQ=DAILY;INTERVAL=3', from: 'completion', firstDay: today.day };
    assert.deepEqual(repeatOf('every 3 days after completion', today), said);
  });

  it('are refused with examples where they say nothing', () => {
    for (const words of ['sometimes', 'every', 'every door', 'every 0 days', 'every 40th', 'constructor'])
      assert.throws(() => repeatOf(words, today), /Such as "every day"/, words);
  });
});
