import { isDay } from './words/days.ts';

/**
 * Reads an RFC 5545 recurrence rule (section 3.3.10) of days or slower, by which a task can repeat. What computes the days, here
 * (`repeat/match-days.ts`) and in the libraries of clients, does not refuse invalid rules (a 40th of a month, unknown parts, COUNT with
 * UNTIL), so the text is checked against the grammar before it is stored; a test shows that a library reads every accepted rule.
 *
 * The time is linear in the length of the text. A rule may have no day at all (30 February), so code that computes days must bound
 * its search.
 *
 * Keeps sync.mutate.repeat-rule.
 */
export type RuleReading =
  | { readonly ok: true; readonly rule: string }
  | { readonly ok: false; readonly reason: string };

export const REPEAT_RULE_LENGTH_MAX = 1000;
/** Of a part: more than any schedule has, and a rule is read again for each search. */
const VALUES_MAX = 60;
/** 27 years of days. */
const COUNT_MAX = 9999;

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
type Frequency = (typeof FREQUENCIES)[number];

/** A part of a rule: its values, its frequencies, and the parts that it requires. */
interface Part {
  readonly holds: (value: string) => boolean;
  readonly asks: string;
  readonly with?: readonly Frequency[];
}

const number =
  (min: number, max: number) =>
  (value: string): boolean =>
    /^\d{1,4}$/.test(value) && Number(value) >= min && Number(value) <= max;
/** May count from the end, and is never 0. */
const signed =
  (max: number) =>
  (value: string): boolean =>
    number(1, max)(value.replace(/^[+-]/, ''));
const list =
  (holds: (value: string) => boolean) =>
  (value: string): boolean =>
    value.split(',').every(holds);
const weekday = (value: string): boolean => /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(value);
const weekdayOfMonth = (value: string): boolean =>
  weekday(value.slice(-2)) && (value.length === 2 || signed(53)(value.slice(0, -2)));

const SLOW = ['MONTHLY', 'YEARLY'] as const;
const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['FREQ', { holds: (value) => FREQUENCIES.some((one) => one === value), asks: FREQUENCIES.join(', ') }],
  ['INTERVAL', { holds: number(1, COUNT_MAX), asks: `a number from 1 to ${COUNT_MAX}` }],
  ['COUNT', { holds: number(1, COUNT_MAX), asks: `a number from 1 to ${COUNT_MAX}` }],
  ['UNTIL', { holds: isMoment, asks: 'a day such as 20261231 or a time such as 20261231T090000Z' }],
  ['WKST', { holds: weekday, asks: 'a weekday such as MO' }],
  ['BYDAY', { holds: list(weekdayOfMonth), asks: 'weekdays such as MO, or 1MO and -1FR' }],
  ['BYMONTHDAY', { holds: list(signed(31)), asks: 'days from 1 to 31 or -31 to -1', with: ['DAILY', ...SLOW] }],
  ['BYYEARDAY', { holds: list(signed(366)), asks: 'days from 1 to 366 or -366 to -1', with: ['YEARLY'] }],
  ['BYWEEKNO', { holds: list(signed(53)), asks: 'weeks from 1 to 53 or -53 to -1', with: ['YEARLY'] }],
  ['BYMONTH', { holds: list(number(1, 12)), asks: 'months from 1 to 12' }],
  ['BYSETPOS', { holds: list(signed(366)), asks: 'numbers from 1 to 366 or -366 to -1' }],
  // One value each: a task repeats at most once a day.
  ['BYHOUR', { holds: number(0, 23), asks: 'one hour from 0 to 23' }],
  ['BYMINUTE', { holds: number(0, 59), asks: 'one minute from 0 to 59' }],
  ['BYSECOND', { holds: number(0, 59), asks: 'one second from 0 to 59' }],
]);

/** The rule in capitals and without the property name of iCalendar before it; or the reason of its refusal. */
export function readRepeatRule(text: string): RuleReading {
  if (text.length > REPEAT_RULE_LENGTH_MAX) return refuse(`must have at most ${REPEAT_RULE_LENGTH_MAX} characters`);
  const rule = text.toUpperCase().replace(/^RRULE:/, '');
  const parts = new Map<string, string>();
  for (const part of rule.split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0));
    const known = PARTS.get(name);
    if (known === undefined) return refuse('must be an RFC 5545 rule such as FREQ=WEEKLY;BYDAY=MO,TH');
    if (parts.has(name)) return refuse(`must give ${name} once`);
    const value = part.slice(at + 1);
    if (value.split(',').length > VALUES_MAX) return refuse(`must give at most ${VALUES_MAX} values of ${name}`);
    if (!known.holds(value)) return refuse(`must give ${name} as ${known.asks}`);
    parts.set(name, value);
  }
  const reason = conflictOf(parts);
  return reason === null ? { ok: true, rule } : refuse(reason);
}

/** The rules of RFC 5545 for combinations of parts. */
function conflictOf(parts: ReadonlyMap<string, string>): string | null {
  const frequency = parts.get('FREQ');
  if (frequency === undefined) return `must give FREQ as ${FREQUENCIES.join(', ')}`;
  if (parts.has('COUNT') && parts.has('UNTIL')) return 'must end by COUNT or by UNTIL, not by both';
  for (const name of parts.keys()) {
    const fitting = PARTS.get(name)?.with;
    if (fitting && !fitting.some((one) => one === frequency))
      return `must give ${name} with ${fitting.join(' or ')} only`;
  }
  const isNumbered = /\d/.test(parts.get('BYDAY') ?? '');
  if (isNumbered && (!SLOW.some((one) => one === frequency) || parts.has('BYWEEKNO')))
    return 'must give numbered weekdays with MONTHLY, or with YEARLY without BYWEEKNO';
  if (isNumbered && (parts.has('BYMONTHDAY') || parts.has('BYYEARDAY')))
    return 'must give numbered weekdays without BYMONTHDAY and BYYEARDAY';
  const chosenFrom = [...parts.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS');
  return parts.has('BYSETPOS') && !chosenFrom ? 'must give BYSETPOS beside another BY part' : null;
}

/** An existing day or time: 30 February is refused. */
function isMoment(value: string): boolean {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})(?:T([01]\d|2[0-3])([0-5]\d)([0-5]\d)Z?)?$/.exec(value) ?? [];
  return isDay(`${year}-${month}-${day}`);
}

function refuse(reason: string): RuleReading {
  return { ok: false, reason };
}
