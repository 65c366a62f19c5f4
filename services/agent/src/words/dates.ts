import { ToolError } from '../tool-error.ts';

/** The day on which the caller is, in their time zone. */
export interface Today {
  readonly day: Temporal.PlainDate;
  readonly timezone: string;
}

/** Throws a ToolError for a time zone that does not exist. */
export function todayIn(timezone: string | undefined, now: Date): Today {
  const zone = timezone ?? 'UTC';
  try {
    const day = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone).toPlainDate();
    return { day, timezone: zone };
  } catch (cause) {
    const message = `"${zone}" is no time zone. Use an IANA name such as UTC, Europe/Berlin or America/New_York.`;
    throw new ToolError('bad_user_input', message, { cause });
  }
}

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const UNITS = { d: 'days', w: 'weeks', m: 'months', y: 'years' } as const;
type Unit = (typeof UNITS)[keyof typeof UNITS];

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SIGNED = /^([+-])(\d{1,4})([dwmy])$/;
const IN = /^in (\d{1,4}|an?|one) (day|week|month|year)s?$/;
const AGO = /^(\d{1,4}|an?|one) (day|week|month|year)s? ago$/;
const WEEKDAY = /^(?:(next|last|this|on) )?([a-z]+)$/;
const EXAMPLES =
  'Use YYYY-MM-DD, today, tomorrow, yesterday, a weekday such as "friday" or "next monday", "in 3 days", "2 weeks ago", +2w or -3d.';

/**
 * The day that a word means, as `YYYY-MM-DD`. A weekday is always after today, `last` before it. Throws a ToolError with what is
 * possible.
 */
export function dayOf(word: string, { day, timezone }: Today): string {
  const given = word.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  try {
    const found = byDate(given) ?? byName(given, day) ?? byDistance(given, day) ?? byWeekday(given, day);
    if (found !== null && found.year >= 1 && found.year <= 9999) return found.toString();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  const shown = word.length > 60 ? `${word.slice(0, 60)}…` : word;
  throw new ToolError('bad_user_input', `"${shown}" is no day. ${EXAMPLES} Today is ${day.toString()} in ${timezone}.`);
}

function byDate(given: string): Temporal.PlainDate | null {
  return DAY.test(given) ? Temporal.PlainDate.from(given, { overflow: 'reject' }) : null;
}

function byName(given: string, today: Temporal.PlainDate): Temporal.PlainDate | null {
  if (given === 'today') return today;
  if (given === 'tomorrow') return today.add({ days: 1 });
  if (given === 'yesterday') return today.subtract({ days: 1 });
  // Monday, as the week of ISO 8601 begins.
  if (given === 'next week') return today.add({ days: 8 - today.dayOfWeek });
  if (given === 'end of month') return today.with({ day: today.daysInMonth });
  return null;
}

function byDistance(given: string, today: Temporal.PlainDate): Temporal.PlainDate | null {
  const [, sign, digits, letter] = SIGNED.exec(given) ?? [];
  if (letter !== undefined) return moved(today, Number(`${sign}${digits}`), UNITS[letter as keyof typeof UNITS]);
  const [, later, laterUnit] = IN.exec(given) ?? [];
  if (later !== undefined) return moved(today, countOf(later), `${laterUnit}s` as Unit);
  const [, earlier, earlierUnit] = AGO.exec(given) ?? [];
  if (earlier !== undefined) return moved(today, -countOf(earlier), `${earlierUnit}s` as Unit);
  return null;
}

function countOf(text: string): number {
  return /^\d/.test(text) ? Number(text) : 1;
}

function moved(today: Temporal.PlainDate, count: number, unit: Unit): Temporal.PlainDate {
  return today.add({ [unit]: count });
}

function byWeekday(given: string, today: Temporal.PlainDate): Temporal.PlainDate | null {
  const [, which, name = ''] = WEEKDAY.exec(given) ?? [];
  const index = WEEKDAYS.findIndex((weekday) => weekday === name || (name.length === 3 && weekday.startsWith(name)));
  if (index === -1) return null;
  const days = (index + 1 - today.dayOfWeek + 7) % 7 || 7;
  if (which !== 'last') return today.add({ days });
  return today.subtract({ days: (today.dayOfWeek - index - 1 + 7) % 7 || 7 });
}
