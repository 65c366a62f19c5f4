import { RRuleTemporal } from 'rrule-temporal';

/** `YYYY-MM-DD`. */
export type Day = string;

interface DayRule {
  /** An accepted RFC 5545 rule (`readRepeatRule`). Its COUNT and UNTIL end a series, and are not applied to days. */
  readonly rule: string;
  /** The first day of the rule: INTERVAL counts from it, and what the rule leaves open is taken from it, such as the weekday. */
  readonly anchor: Day;
}

/** A rule whose next day is later than this counts as one without any. */
const YEARS_MAX = 30;
/** A day has four digits for its year. */
const YEAR_MAX = 9999;
/**
 * The steps of one search, enough for 30 years of months. A rule that has no day takes all of them, 1 ms; a rule that has its
 * first day after more of them, such as 29 February every seventh day, counts as one without any.
 */
const STEPS_MAX = 400;
/** Of one window, fewer than the steps of a search, of which a rule by days takes one for each. */
const WINDOW_DAYS_MAX = 366;
const LAST_DAY: Day = `${YEAR_MAX}-12-31`;

/**
 * The days of a rule after a day, ascending, at most `count`, none after `until` and none more than 30 years later. The only function
 * that computes days of rules.
 *
 * Each search of the library computes a year of a rule by years, or steps from day to day. So days that are near each other are read
 * by one search of a window, not by one for each day, and none is searched after `until`.
 *
 * The rule is computed as if its days were UTC midnights, so no time zone is involved; times in the rule are ignored. A rule by
 * months or years without a day of the month takes that of its anchor, and the last day of a month that is shorter: from 31
 * January, 28 February and 31 March (RFC 5545 leaves out such months). An explicit BYMONTHDAY=31 follows the RFC.
 */
export function ruleDays(rule: DayRule, after: Day, count: number, until: Day = LAST_DAY): readonly Day[] {
  const search = `${rule.rule} ${rule.anchor} ${after} ${count} ${until}`;
  const known = recent.get(search);
  if (known !== undefined) return known;
  const days = searchDays(rule, { after, count, until });
  if (recent.size >= RECENT_MAX) recent.clear();
  recent.set(search, days);
  return days;
}

/** The last searches: a commit decides its units once for each round of reads, and series of one rule are due together. */
const recent = new Map<string, readonly Day[]>();
const RECENT_MAX = 2_000;

interface Search {
  readonly after: Day;
  readonly count: number;
  readonly until: Day;
}

function searchDays({ rule, anchor }: DayRule, { after, count, until }: Search): Day[] {
  const last = yearsAfter(after, YEARS_MAX);
  const rules = dayPartsOf(rule, anchor).map((text) => startedAt(text, anchor, last));
  const days: Day[] = [];
  let reached = after;
  while (days.length < count) {
    const next = rules.map((one) => nextDay(one, reached)).reduce(earlier, null);
    if (next === null || next > until) break;
    const end = windowEnd(next, count - days.length);
    const found = new Set([next, ...rules.flatMap((one) => daysWithin(one, next, end))]);
    const ascending = [...found].toSorted().filter((day) => day <= until);
    days.push(...ascending.slice(0, count - days.length));
    reached = end;
  }
  return days;
}

/** The day so many years after another one, but never after the year 9999. */
export function yearsAfter(day: Day, years: number): Day {
  const later = Temporal.PlainDate.from(day).add({ years });
  return later.year > YEAR_MAX ? LAST_DAY : later.toString();
}

/** A rule with the dates of its task. */
interface RepeatedTask {
  readonly rule: string;
  readonly startDate: Day | null;
  readonly deadlineAt: Day | null;
}

/** Whether a rule never comes again, for a task with these dates, or one without any that begins today. */
export function hasNoDay({ rule, startDate, deadlineAt }: RepeatedTask, today: Day): boolean {
  const anchor = startDate ?? deadlineAt ?? today;
  return ruleDays({ rule, anchor }, anchor > today ? anchor : today, 1).length === 0;
}

/** UNTIL of a rule as a day in a time zone; null without one. */
export function untilDay(rule: string, timeZone: string): Day | null {
  const found = /(?:^|;)UNTIL=(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?/.exec(rule);
  if (found === null) return null;
  const [, year, month, day, hour, minute, second, zulu] = found;
  const local = `${year}-${month}-${day}`;
  if (zulu !== 'Z') return local;
  return Temporal.Instant.from(`${local}T${hour}:${minute}:${second}Z`)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .toString();
}

/** COUNT of a rule; Infinity without one. */
export function countOf(rule: string): number {
  const found = /(?:^|;)COUNT=(\d+)/.exec(rule);
  return found === null ? Infinity : Number(found[1]);
}

const NOT_OF_DAYS = /^(?:COUNT|UNTIL|BYHOUR|BYMINUTE|BYSECOND)=/;

/** The parts of a rule that decide its days; several rules where one cannot say which day each month ends at. */
function dayPartsOf(rule: string, anchor: Day): string[] {
  const parts = rule.split(';').filter((part) => !NOT_OF_DAYS.test(part));
  const text = parts.join(';');
  const { day, month } = Temporal.PlainDate.from(anchor);
  const chosen = parts.filter((part) => part.startsWith('BY') && !part.startsWith('BYMONTH='));
  const isYearly = parts.includes('FREQ=YEARLY');
  if (day <= 28 || chosen.length > 0 || !(isYearly || parts.includes('FREQ=MONTHLY'))) return [text];
  const days = Array.from({ length: day - 27 }, (_, index) => 28 + index).join(',');
  const lastOfMonth = `BYMONTHDAY=${days};BYSETPOS=-1`;
  if (!isYearly) return [`${text};${lastOfMonth}`];
  // BYSETPOS would choose the last day of all months of the year.
  const months = /(?:^|;)BYMONTH=([\d,]+)/.exec(text)?.[1]?.split(',') ?? [String(month)];
  const others = parts.filter((part) => !part.startsWith('BYMONTH='));
  return months.map((one) => `${others.join(';')};BYMONTH=${one};${lastOfMonth}`);
}

/** `last` ends the search of a rule by months or years long before it has taken all steps. */
function startedAt(rruleString: string, anchor: Day, last: Day): RRuleTemporal {
  const [dtstart, until] = [midnight(anchor), midnight(last)];
  return new RRuleTemporal({ rruleString, dtstart, until, maxIterations: STEPS_MAX, cache: false });
}

function nextDay(rule: RRuleTemporal, after: Day): Day | null {
  try {
    return rule.next(midnight(after))?.toPlainDate().toString() ?? null;
  } catch (error) {
    if (error instanceof Error && error.message.includes('exceeded')) return null;
    throw error;
  }
}

/** The end of the window that begins with this day: `count` days are in no shorter one. */
function windowEnd(first: Day, count: number): Day {
  const end = Temporal.PlainDate.from(first).add({ days: Math.min(count, WINDOW_DAYS_MAX) - 1 });
  return end.year > YEAR_MAX ? LAST_DAY : end.toString();
}

function daysWithin(rule: RRuleTemporal, first: Day, last: Day): Day[] {
  if (first === last) return [];
  return rule.between(midnight(first), midnight(last), true).map((moment) => moment.toPlainDate().toString());
}

function midnight(day: Day): Temporal.ZonedDateTime {
  return Temporal.PlainDate.from(day).toZonedDateTime('UTC');
}

function earlier(one: Day | null, other: Day | null): Day | null {
  return one === null || (other !== null && other < one) ? other : one;
}
