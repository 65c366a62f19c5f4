type Day = string;

/**
 * The days of a rule by looking at each day of the calendar: slow and plain, so that tests can compare the search with it. Without
 * BYWEEKNO. Weeks begin on Monday.
 */
export function walkDays(rule: string, anchor: Day, after: Day, until: Day): Day[] {
  const parts = new Map(rule.split(';').map((part) => part.split('=') as [string, string]));
  const start = Temporal.PlainDate.from(anchor);
  const interval = Number(parts.get('INTERVAL') ?? 1);
  const unit = UNITS[parts.get('FREQ') as keyof typeof UNITS];
  const days: Day[] = [];
  for (let period = periodStart(start, unit), number = 0; period.toString() <= until; number += 1) {
    const next = period.add({ [unit]: 1 });
    if (number % interval === 0) days.push(...chosenOf(period, next, { parts, start, unit }));
    period = next;
  }
  return days.filter((day) => day >= anchor && day > after && day <= until);
}

const UNITS = { DAILY: 'days', WEEKLY: 'weeks', MONTHLY: 'months', YEARLY: 'years' } as const;
type Unit = (typeof UNITS)[keyof typeof UNITS];
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

interface Walk {
  readonly parts: ReadonlyMap<string, string>;
  readonly start: Temporal.PlainDate;
  readonly unit: Unit;
}

function periodStart(day: Temporal.PlainDate, unit: Unit): Temporal.PlainDate {
  if (unit === 'weeks') return day.subtract({ days: day.dayOfWeek - 1 });
  if (unit === 'months') return day.with({ day: 1 });
  return unit === 'years' ? day.with({ month: 1, day: 1 }) : day;
}

function chosenOf(from: Temporal.PlainDate, to: Temporal.PlainDate, walk: Walk): Day[] {
  const found: Day[] = [];
  for (let day = from; Temporal.PlainDate.compare(day, to) < 0; day = day.add({ days: 1 })) {
    if (matches(day, walk)) found.push(day.toString());
  }
  const positions = walk.parts.get('BYSETPOS')?.split(',').map(Number);
  if (positions === undefined) return found;
  return found.filter((_, index) => positions.includes(index + 1) || positions.includes(index - found.length));
}

function matches(day: Temporal.PlainDate, { parts, start, unit }: Walk): boolean {
  const numbers = (name: string): number[] | undefined => parts.get(name)?.split(',').map(Number);
  const isIn = (name: string, ...values: number[]): boolean =>
    numbers(name)?.some((one) => values.includes(one)) ?? true;
  const byDay = parts.get('BYDAY')?.split(',');
  if (!isIn('BYMONTH', day.month)) return false;
  if (!isIn('BYMONTHDAY', day.day, day.day - day.daysInMonth - 1)) return false;
  if (!isIn('BYYEARDAY', day.dayOfYear, day.dayOfYear - day.daysInYear - 1)) return false;
  if (byDay && !byDay.some((one) => isWeekday(day, one, unit === 'years' && !parts.has('BYMONTH')))) return false;
  if (byDay || parts.has('BYMONTHDAY') || parts.has('BYYEARDAY')) return true;
  if (unit === 'weeks') return day.dayOfWeek === start.dayOfWeek;
  if (unit === 'years' && !parts.has('BYMONTH') && day.month !== start.month) return false;
  const isClamped = !parts.has('BYSETPOS');
  return unit === 'days' || day.day === (isClamped ? Math.min(start.day, day.daysInMonth) : start.day);
}

function isWeekday(day: Temporal.PlainDate, token: string, isOfYear: boolean): boolean {
  if (WEEKDAYS[day.dayOfWeek - 1] !== token.slice(-2)) return false;
  if (token.length === 2) return true;
  const [at, length] = isOfYear ? [day.dayOfYear, day.daysInYear] : [day.day, day.daysInMonth];
  const place = Number(token.slice(0, -2));
  return place === Math.ceil(at / 7) || place === -Math.ceil((length - at + 1) / 7);
}
