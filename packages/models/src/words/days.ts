import { WordError } from './word-error.ts';

/*
 * Days are texts, `YYYY-MM-DD`. They are counted with `Date` at midnight in UTC, because not every browser has `Temporal`.
 */

/** The day on which a person is, in their time zone. */
export interface Today {
  readonly day: string;
  readonly timezone: string;
}

/** Throws a WordError for a time zone that does not exist. */
export function todayIn(timezone: string | undefined, now: Date): Today {
  const timeZone = timezone ?? 'UTC';
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
    return { day: `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`, timezone: timeZone };
  } catch (cause) {
    const message = `"${timeZone}" is no time zone. Use an IANA name such as UTC, Europe/Berlin or America/New_York.`;
    throw new WordError(message, { cause });
  }
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
type Unit = 'day' | 'week' | 'month' | 'year';
const UNITS: Readonly<Record<string, Unit>> = { d: 'day', w: 'week', m: 'month', y: 'year' };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SIGNED = /^([+-])(\d{1,4})([dwmy])$/;
const IN = /^in (\d{1,4}|an?|one) (day|week|month|year)s?$/;
const AGO = /^(\d{1,4}|an?|one) (day|week|month|year)s? ago$/;
const WEEKDAY = /^(?:(next|last|this|on) )?([a-z]+)$/;
const EXAMPLES =
  'Use YYYY-MM-DD, today, tomorrow, yesterday, a weekday such as "friday" or "next monday", "in 3 days", "2 weeks ago", +2w or -3d.';

/**
 * The day that a word means. A weekday is always after today, `last` before it. Throws a WordError with what is possible.
 */
export function dayOf(word: string, { day, timezone }: Today): string {
  const given = word.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const today = new Date(`${day}T00:00:00.000Z`);
  const found = byDate(given) ?? byName(given, today) ?? byDistance(given, today) ?? byWeekday(given, today);
  const year = found?.getUTCFullYear() ?? Number.NaN;
  if (found !== null && year >= 1 && year <= 9999) return found.toISOString().slice(0, 10);
  const shown = word.length > 60 ? `${word.slice(0, 60)}…` : word;
  throw new WordError(`"${shown}" is no day. ${EXAMPLES} Today is ${day} in ${timezone}.`);
}

/** `Date` reads 30 February as 2 March; such a day is refused. */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00.000Z`);
  return DAY.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function byDate(given: string): Date | null {
  return isDay(given) ? new Date(`${given}T00:00:00.000Z`) : null;
}

function byName(given: string, today: Date): Date | null {
  if (given === 'today') return today;
  if (given === 'tomorrow') return daysLater(today, 1);
  if (given === 'yesterday') return daysLater(today, -1);
  // Monday, as the week of ISO 8601 begins.
  if (given === 'next week') return daysLater(today, 7 - weekdayOf(today));
  if (given === 'end of month') return lastOfMonth(today, 0);
  return null;
}

function byDistance(given: string, today: Date): Date | null {
  const [, sign, digits, letter = ''] = SIGNED.exec(given) ?? [];
  if (sign !== undefined) return moved(today, Number(`${sign}${digits}`), UNITS[letter] as Unit);
  const [, later, laterUnit] = IN.exec(given) ?? [];
  if (later !== undefined) return moved(today, countOf(later), laterUnit as Unit);
  const [, earlier, earlierUnit] = AGO.exec(given) ?? [];
  if (earlier !== undefined) return moved(today, -countOf(earlier), earlierUnit as Unit);
  return null;
}

function countOf(text: string): number {
  return /^\d/.test(text) ? Number(text) : 1;
}

/** The same day of another month, or its last day. */
function moved(today: Date, count: number, unit: Unit): Date {
  if (unit === 'day' || unit === 'week') return daysLater(today, unit === 'day' ? count : 7 * count);
  const month = lastOfMonth(today, unit === 'month' ? count : 12 * count);
  month.setUTCDate(Math.min(today.getUTCDate(), month.getUTCDate()));
  return month;
}

function byWeekday(given: string, today: Date): Date | null {
  const [, which, name = ''] = WEEKDAY.exec(given) ?? [];
  const index = WEEKDAYS.findIndex((weekday) => weekday === name || (name.length === 3 && weekday.startsWith(name)));
  if (index === -1) return null;
  const days = (index - weekdayOf(today) + 7) % 7;
  return daysLater(today, which === 'last' ? days - 7 : days || 7);
}

/** From 0 for Monday. */
export function weekdayOf(date: Date): number {
  return (date.getUTCDay() + 6) % 7;
}

function daysLater(date: Date, days: number): Date {
  return new Date(date.getTime() + days * 86_400_000);
}

/** Not `Date.UTC`, which reads the years 0 to 99 as 1900 to 1999. */
function lastOfMonth(date: Date, monthsLater: number): Date {
  const last = new Date(0);
  last.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + monthsLater + 1, 0);
  return last;
}
