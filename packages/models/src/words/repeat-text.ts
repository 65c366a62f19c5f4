import { weekdayOf } from './days.ts';

/** How a task repeats: fields of a task, whose rule is an accepted one. */
export interface Repeating {
  readonly repeatRule: string | null;
  readonly repeatFrom: 'date' | 'completion';
  /** `YYYY-MM-DD`: what the rule leaves open is taken from it, such as the weekday. */
  readonly repeatAnchor: string | null;
}

type Parts = ReadonlyMap<string, string>;

const UNITS: Readonly<Record<string, string>> = { DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' };
const CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/**
 * How a task repeats, in words: `every Monday and Thursday, after completion`; null when it does not repeat. Times of the rule are
 * left out, because a task repeats on days.
 */
export function repeatText({ repeatRule, repeatFrom, repeatAnchor }: Repeating): string | null {
  if (repeatRule === null) return null;
  const parts: Parts = new Map(repeatRule.split(';').map((part) => part.split('=', 2) as [string, string]));
  const isFromDate = repeatFrom === 'date' && repeatAnchor !== null;
  const anchor = isFromDate ? new Date(`${repeatAnchor}T00:00:00.000Z`) : null;
  const [, year, month, day, time] = /^(\d{4})(\d\d)(\d\d)(T\d{4})?/.exec(parts.get('UNTIL') ?? '') ?? [];
  const until = `until ${year}-${month}-${day}${time === undefined ? '' : ` ${time.slice(1, 3)}:${time.slice(3)}`}`;
  const count = parts.get('COUNT');
  const every = everyText(parts);
  const isOfWeek = parts.get('FREQ') === 'WEEKLY' || (every === 'every day' && parts.has('BYDAY'));
  return [
    isOfWeek ? weekText(every, parts, anchor) : `${every}${daysText(parts, anchor)}`,
    ...(count === undefined ? [] : [count === '1' ? 'once' : `${count} times`]),
    ...(year === undefined ? [] : [until]),
    ...(repeatFrom === 'completion' ? ['after completion'] : []),
  ].join(', ');
}

function everyText(parts: Parts): string {
  const [interval, unit] = [parts.get('INTERVAL') ?? '1', UNITS[parts.get('FREQ') ?? '']];
  return Number(interval) === 1 ? `every ${unit}` : `every ${Number(interval)} ${unit}s`;
}

function weekText(every: string, parts: Parts, anchor: Date | null): string {
  const given = valuesOf(parts, 'BYDAY');
  const weekdays = given.length > 0 || anchor === null ? given : [CODES[weekdayOf(anchor)] ?? ''];
  const others = daysText(new Map([...parts].filter(([name]) => name !== 'BYDAY')), null);
  if (weekdays.length === 0) return `${every}${others}`;
  const names = weekdaysText(weekdays);
  return `${/\d/.test(every) ? `${every} on ${eachOf(names)}` : `every ${names}`}${others}`;
}

/** What chooses days within a month or a year, each after a space. */
function daysText(parts: Parts, anchor: Date | null): string {
  const [weekdays, positions] = [valuesOf(parts, 'BYDAY'), valuesOf(parts, 'BYSETPOS')];
  const numbered = (name: string, of: string): string =>
    parts.has(name) ? ` ${of.replace('#', listed(valuesOf(parts, name).map(ordinal)))}` : '';
  const byNumber = [
    numbered('BYMONTHDAY', 'on the # day of the month'),
    numbered('BYYEARDAY', 'on the # day of the year'),
    numbered('BYWEEKNO', 'in the # week of the year'),
  ].join('');
  const months = valuesOf(parts, 'BYMONTH').map((month) => MONTHS[Number(month) - 1] ?? '');
  const isOpen = anchor !== null && weekdays.length === 0 && byNumber === '';
  const byMonth = `${isOpen ? openText(parts, anchor) : byNumber}${months.length === 0 ? '' : ` in ${listed(months)}`}`;
  const names = weekdaysText(weekdays);
  // Such as the last weekday of a month.
  const isOneWord = weekdays.length > 0 && !names.includes(' ') && byNumber === '';
  if (positions.length > 0 && isOneWord) return ` on the ${listed(positions.map(ordinal))} ${names}${byMonth}`;
  const isNumbered = /\d/.test(weekdays.join(''));
  const byDay = weekdays.length === 0 ? '' : ` on ${isNumbered ? 'the ' : ''}${eachOf(names)}`;
  const chosen = positions.length === 0 ? '' : `, of these days only the ${listed(positions.map(ordinal))}`;
  return `${byDay}${byMonth}${chosen}`;
}

/** The day of the anchor, which is the last day in a month that is shorter. */
function openText(parts: Parts, anchor: Date): string {
  const [frequency, day, month] = [parts.get('FREQ'), anchor.getUTCDate(), MONTHS[anchor.getUTCMonth()]];
  if (frequency === 'YEARLY' && !parts.has('BYMONTH'))
    return ` on ${month} ${day}${month === 'February' && day === 29 ? ' or 28' : ''}`;
  if (frequency === 'DAILY' || frequency === 'WEEKLY') return '';
  return ` on the ${ordinal(String(day))}${day > 28 ? ' or last' : ''} day of the month`;
}

function valuesOf(parts: Parts, name: string): string[] {
  return parts.get(name)?.split(',') ?? [];
}

/** All seven are "day", and Monday to Friday "weekday". */
function weekdaysText(values: readonly string[]): string {
  const codes = new Set(values);
  const isEach = (count: number): boolean =>
    codes.size === count && CODES.slice(0, count).every((code) => codes.has(code));
  if (isEach(7)) return 'day';
  return isEach(5) ? 'weekday' : listed(values.map(weekdayText));
}

function eachOf(names: string): string {
  return names === 'day' || names === 'weekday' ? `each ${names}` : names;
}

/** `MO`, `1MO` or `-1FR`. */
function weekdayText(value: string): string {
  const name = WEEKDAYS[CODES.indexOf(value.slice(-2))] ?? '';
  return value.length === 2 ? name : `${ordinal(value.slice(0, -2))} ${name}`;
}

/** `1st`, and from the end `last` and `2nd last`. */
function ordinal(value: string): string {
  const number = Math.abs(Number(value));
  const ending = [11, 12, 13].includes(number % 100) ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  if (Number(value) > 0) return `${number}${ending}`;
  return number === 1 ? 'last' : `${number}${ending} last`;
}

function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} and ${values.at(-1)}`;
}
