import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RRuleTemporal } from 'rrule-temporal';
import { readRepeatRule } from './repeat-rule.ts';

const reasonOf = (text: string): string => {
  const reading = readRepeatRule(text);
  return reading.ok ? 'accepted' : reading.reason;
};

/** What a library that computes the days makes of it. */
function days(rule: string): string[] {
  return new RRuleTemporal({ rruleString: `DTSTART:20260105T090000Z\nRRULE:${rule}`, maxIterations: 2000 })
    .all((_day, index) => index < 3)
    .map((day) => day.toPlainDate().toString());
}

/** Section 3.8.5.3 of RFC 5545, as far as it is of days. */
const RULES: readonly string[] = [
  'FREQ=DAILY',
  'FREQ=DAILY;COUNT=10',
  'FREQ=DAILY;UNTIL=20261224T000000Z',
  'FREQ=DAILY;UNTIL=20261224',
  'FREQ=DAILY;INTERVAL=2',
  'UNTIL=20290131T140000Z;FREQ=YEARLY;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA',
  'FREQ=DAILY;BYMONTH=1;BYMONTHDAY=-1,+15',
  'FREQ=WEEKLY;INTERVAL=2;WKST=SU',
  'FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH',
  'FREQ=MONTHLY;COUNT=10;BYDAY=1FR',
  'FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU',
  'FREQ=MONTHLY;BYMONTHDAY=-3',
  'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
  'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2',
  'FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200',
  'FREQ=YEARLY;BYDAY=20MO',
  'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO',
  'FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8',
  'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
];

describe('a repeat rule', () => {
  it('may be any of RFC 5545 that repeats by days or slower [sync.mutate.repeat-rule]', () => {
    for (const rule of RULES) {
      assert.deepEqual(readRepeatRule(rule), { ok: true, rule });
      assert.equal(days(rule).length, 3, rule);
    }
  });

  it('is stored in capitals, without its property name', () =>
    assert.deepEqual(readRepeatRule('RRULE:freq=Weekly;byday=mo'), { ok: true, rule: 'FREQ=WEEKLY;BYDAY=MO' }));

  it('is refused otherwise, with the reason [sync.mutate.repeat-rule]', () => {
    const bad: readonly (readonly [rule: string, reason: RegExp])[] = [
      ['nonsense', /RFC 5545 rule such as/],
      ['', /RFC 5545/],
      ['FREQ=DAILY;', /RFC 5545/],
      ['FREQ=DAILY\nRRULE:FREQ=DAILY', /FREQ as DAILY, WEEKLY/],
      ['RRULE:RRULE:FREQ=DAILY', /RFC 5545/],
      ['DTSTART:20260101', /RFC 5545/],
      ['FREQ=DAILY;X-NAME=1', /RFC 5545/],
      ['FREQ=DAILY;__PROTO__=1', /RFC 5545/],
      ['RSCALE=HEBREW;FREQ=YEARLY', /RFC 5545/],
      ['FREQ', /RFC 5545/],
      ['=', /RFC 5545/],
      ['INTERVAL=2', /FREQ as DAILY, WEEKLY/],
      ['FREQ=NEVER', /FREQ as DAILY, WEEKLY/],
      ['FREQ=SECONDLY', /FREQ as DAILY, WEEKLY/],
      ['FREQ=MINUTELY', /FREQ as DAILY, WEEKLY/],
      ['FREQ=HOURLY', /FREQ as DAILY, WEEKLY/],
      ['FREQ=DAILY ', /FREQ as DAILY, WEEKLY/],
      ['FREQ=DAILY;FREQ=DAILY', /give FREQ once/],
      ['FREQ=DAILY;COUNT=2;UNTIL=20270101', /not by both/],
      ['FREQ=DAILY;COUNT=0', /give COUNT/],
      ['FREQ=DAILY;COUNT=10000', /give COUNT/],
      ['FREQ=DAILY;INTERVAL=0', /give INTERVAL/],
      ['FREQ=DAILY;INTERVAL=-1', /give INTERVAL/],
      ['FREQ=DAILY;INTERVAL=1.5', /give INTERVAL/],
      ['FREQ=DAILY;INTERVAL=٣', /give INTERVAL/],
      ['FREQ=DAILY;UNTIL=20270230', /give UNTIL/],
      ['FREQ=DAILY;UNTIL=2027-01-01', /give UNTIL/],
      ['FREQ=DAILY;UNTIL=20270101T250000Z', /give UNTIL/],
      ['FREQ=WEEKLY;BYDAY=XX', /give BYDAY/],
      ['FREQ=WEEKLY;BYDAY=MO,', /give BYDAY/],
      ['FREQ=MONTHLY;BYDAY=0MO', /give BYDAY/],
      ['FREQ=MONTHLY;BYDAY=54MO', /give BYDAY/],
      ['FREQ=WEEKLY;BYDAY=1MO', /numbered weekdays/],
      ['FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO', /numbered weekdays/],
      ['FREQ=MONTHLY;BYMONTHDAY=32', /give BYMONTHDAY/],
      ['FREQ=WEEKLY;BYMONTHDAY=1', /BYMONTHDAY with DAILY or MONTHLY or YEARLY only/],
      ['FREQ=MONTHLY;BYYEARDAY=1', /BYYEARDAY with YEARLY only/],
      ['FREQ=MONTHLY;BYWEEKNO=1', /BYWEEKNO with YEARLY only/],
      ['FREQ=YEARLY;BYMONTH=13', /give BYMONTH /],
      ['FREQ=YEARLY;BYMONTH=-1', /give BYMONTH /],
      ['FREQ=DAILY;BYSETPOS=1', /BYSETPOS beside/],
      ['FREQ=DAILY;BYHOUR=9,17', /give BYHOUR/],
      ['FREQ=DAILY;BYMINUTE=60', /give BYMINUTE/],
      [`FREQ=YEARLY;BYYEARDAY=${'1,'.repeat(600)}1`, /at most 1000 characters/],
      [`FREQ=YEARLY;BYYEARDAY=${'1,'.repeat(60)}1`, /at most 60 values of BYYEARDAY/],
    ];
    for (const [rule, reason] of bad) assert.match(reasonOf(rule), reason, rule);
  });

  it('that is accepted can be read by a library that computes its days', () => {
    const part = fc.oneof(
      fc.constantFrom('COUNT=3', 'INTERVAL=2', 'UNTIL=20270101', 'BYDAY=MO,-1FR', 'BYDAY=TU', 'BYMONTHDAY=1,-1'),
      fc.constantFrom('BYYEARDAY=200', 'BYWEEKNO=5', 'BYMONTH=2,7', 'BYSETPOS=-1', 'WKST=SU', 'BYHOUR=9'),
      fc.string({ maxLength: 12 }),
    );
    const rule = fc
      .tuple(fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY', 'NEVER'), fc.uniqueArray(part, { maxLength: 4 }))
      .map(([frequency, parts]) => [`FREQ=${frequency}`, ...parts].join(';'));
    fc.assert(
      fc.property(rule, (text) => {
        const reading = readRepeatRule(text);
        if (!reading.ok) return assert.match(reading.reason, /^must [\x20-\x7e]+$/);
        assert.deepEqual(readRepeatRule(reading.rule), reading);
        try {
          days(reading.rule);
        } catch (error) {
          // The library read the rule, whose days are so rare that it stopped looking for them.
          assert.match(String(error), /Maximum iterations/);
        }
      }),
      { numRuns: 300, examples: [['FREQ=DAILY;BYDAY=TU;BYMONTH=2,7;BYMONTHDAY=1,-1']] },
    );
  });
});
