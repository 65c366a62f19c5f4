import { dayOf, WordError, type Today } from '@wts/models/words';

/** How a task repeats, as a person says it. */
export interface Repeat {
  /** An RFC 5545 rule of days. */
  readonly rule: string;
  readonly from: 'date' | 'completion';
  /** The first day of the rule, today or later. */
  readonly firstDay: string;
}

interface Parts {
  readonly frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';
  readonly interval?: number;
  /** From 0 for Monday, with the count within the month where it has one: -1 for the last. */
  readonly weekdays?: readonly (readonly [weekday: number, nth: number | null])[];
  readonly monthDays?: readonly number[];
  readonly month?: number;
}

const EXAMPLES =
  'Such as "every day", "every 2 weeks", "every monday and thursday", "every weekday", "every 1st", "every last friday", "every 3 months", "every december 24", with ", 5 times", "until 2027-06-30" or "after completion" behind it; or a rule such as FREQ=WEEKLY;BYDAY=MO.';

/** Reads words such as `every monday and thursday, after completion`. Throws a WordError with examples. */
export function repeatOf(given: string, today: Today): Repeat {
  const text = given.trim().replaceAll(/\s+/g, ' ');
  if (/^(?:rrule:)?freq=/i.test(text)) return { rule: text.toUpperCase(), from: 'date', firstDay: today.day };
  const { body, from, end } = withoutEnd(text.toLowerCase(), today);
  const parts = partsOf(body.replace(/^(?:every|each)(?: |$)/, '')) ?? partsOf(ADVERBS.get(body) ?? '');
  if (parts === null) throw new WordError(`${JSON.stringify(given)} does not say how a task repeats. ${EXAMPLES}`);
  return { rule: `${ruleOf(parts)}${end}`, from, firstDay: firstDayOf(parts, today.day) };
}

const ADVERBS: ReadonlyMap<string, string> = new Map([
  ['daily', 'day'],
  ['weekly', 'week'],
  ['monthly', 'month'],
  ['yearly', 'year'],
  ['annually', 'year'],
]);

function withoutEnd(
  text: string,
  today: Today,
): { readonly body: string; readonly from: Repeat['from']; readonly end: string } {
  let body = text;
  let end = '';
  const take = (pattern: RegExp): string | undefined => {
    const found = pattern.exec(body);
    if (found !== null) body = body.slice(0, found.index).replace(/[ ,]{1,3}$/, '');
    return found?.[1];
  };
  const from = take(/[ ,]{1,3}(after (?:completion|done|it is done))$/) === undefined ? 'date' : 'completion';
  const until = take(/[ ,]{1,3}until (.+)$/);
  if (until !== undefined) end = `;UNTIL=${dayOf(until, today).replaceAll('-', '')}`;
  const times = take(/[ ,]{1,3}(\d{1,4}) times$/);
  if (times !== undefined) end += `;COUNT=${times}`;
  return { body, from, end };
}

const UNITS: Readonly<Record<string, Parts>> = {
  day: { frequency: 'DAILY' },
  week: { frequency: 'WEEKLY' },
  month: { frequency: 'MONTHLY' },
  quarter: { frequency: 'MONTHLY', interval: 3 },
  year: { frequency: 'YEARLY' },
};
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const NUMBERS = ['last', 'first', 'second', 'third', 'fourth', 'fifth'];

function partsOf(text: string): Parts | null {
  const [, count, unit = '', , days] =
    /^(?:(\d{1,4}|an?|one|other|second) )?(day|week|month|quarter|year)s?( on (.+))?$/.exec(text) ?? [];
  if (unit !== '') {
    const base = UNITS[unit] as Parts;
    const interval =
      (base.interval ?? 1) *
      (count === 'other' || count === 'second' ? 2 : /^\d/.test(count ?? '') ? Number(count) : 1);
    const on = days === undefined ? {} : daysOf(days);
    return on === null || interval === 0 ? null : { ...base, ...on, frequency: base.frequency, interval };
  }
  return daysOf(text);
}

/** `monday and thursday`, `weekday`, `1st, 15th`, `last day`, `first monday of the month`, `december 24`. */
function daysOf(text: string): Parts | null {
  if (/^(?:weekday|workday|working day)s?$/.test(text))
    return { frequency: 'WEEKLY', weekdays: [0, 1, 2, 3, 4].map((day) => [day, null]) };
  if (/^weekends?$/.test(text)) return { frequency: 'WEEKLY', weekdays: [5, 6].map((day) => [day, null]) };
  const plain = text.replace(/ of (?:the|each|every) month$/, '').replaceAll(/\bthe /g, '');
  const words = plain.split(/,? and |, ?/);
  const weekdays = words.map((word) => weekdayOf(word));
  if (weekdays.every((day) => day !== null))
    return { frequency: 'WEEKLY', weekdays: weekdays.map((day) => [day, null]) };
  const nth = words.map((word) => nthWeekdayOf(word));
  if (nth.every((day) => day !== null)) return { frequency: 'MONTHLY', weekdays: nth };
  const monthDays = words.map((word) => monthDayOf(word));
  if (monthDays.every((day) => day !== null)) return { frequency: 'MONTHLY', monthDays };
  return yearDayOf(plain);
}

function weekdayOf(word: string): number | null {
  const name = word.replace(/s$/, '');
  const at = WEEKDAYS.findIndex((one) => one === name || (name.length >= 3 && one.startsWith(name)));
  return at === -1 ? null : at;
}

function nthWeekdayOf(word: string): [number, number] | null {
  const [, count = '', name = ''] = /^(\w+) (\w+)$/.exec(word) ?? [];
  const [weekday, nth] = [weekdayOf(name), NUMBERS.includes(count) ? NUMBERS.indexOf(count) : ordinalOf(count)];
  return weekday === null || nth === null || nth > 5 ? null : [weekday, nth === 0 ? -1 : nth];
}

function monthDayOf(word: string): number | null {
  if (word === 'last day' || word === 'last') return -1;
  const day = ordinalOf(word.replace(/ day$/, ''));
  return day === null || day > 31 ? null : day;
}

function yearDayOf(text: string): Parts | null {
  const [, before, after] = /^(?:(\w+) )?(?:of )?(\w+)$/.exec(text) ?? [];
  for (const [name = '', number = ''] of [
    [before, after],
    [after, before],
  ] as const) {
    const month = name.length < 3 ? -1 : MONTHS.findIndex((one) => one.startsWith(name));
    const day = ordinalOf(number) ?? (/^\d{1,2}$/.test(number) ? Number(number) : null);
    if (month !== -1 && day !== null && day >= 1 && day <= 31) return { frequency: 'YEARLY', month, monthDays: [day] };
  }
  return null;
}

/** `1st`, `15th`. */
function ordinalOf(word: string): number | null {
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word) ?? [];
  return digits === undefined || Number(digits) === 0 ? null : Number(digits);
}

function ruleOf({ frequency, interval = 1, weekdays, monthDays, month }: Parts): string {
  const parts = [
    `FREQ=${frequency}`,
    interval === 1 ? null : `INTERVAL=${interval}`,
    month === undefined ? null : `BYMONTH=${month + 1}`,
    monthDays === undefined ? null : `BYMONTHDAY=${monthDays.join(',')}`,
    weekdays === undefined ? null : `BYDAY=${weekdays.map(([day, nth]) => `${nth ?? ''}${CODES[day]}`).join(',')}`,
  ];
  return parts.filter((part) => part !== null).join(';');
}

/** Eight years: the longest time between two days of 29 February. */
const DAYS_MAX = 8 * 366;

function firstDayOf(parts: Parts, today: string): string {
  const start = Date.parse(`${today}T00:00:00Z`);
  for (let days = 0; days <= DAYS_MAX; days += 1) {
    const date = new Date(start + days * 86_400_000);
    if (isDue(parts, date)) return date.toISOString().slice(0, 10);
  }
  return today;
}

function isDue({ weekdays, monthDays, month }: Parts, date: Date): boolean {
  const [day, weekday] = [date.getUTCDate(), (date.getUTCDay() + 6) % 7];
  const lengthOfMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  if (month !== undefined && date.getUTCMonth() !== month) return false;
  if (monthDays !== undefined && !monthDays.some((one) => one === day || (one === -1 && day === lengthOfMonth)))
    return false;
  return (
    weekdays === undefined ||
    weekdays.some(
      ([of, nth]) =>
        of === weekday && (nth === null || (nth === -1 ? day + 7 > lengthOfMonth : Math.ceil(day / 7) === nth)),
    )
  );
}
