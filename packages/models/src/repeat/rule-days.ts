import { matchingDays } from './match-days.ts';

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
const LAST_DAY: Day = `${YEAR_MAX}-12-31`;

/**
 * The days of a rule after a day, ascending, at most `count`, none after `until` and none more than 30 years later. The only function
 * that computes days of rules.
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
  return matchingDays(rule, anchor, after, until < last ? until : last)
    .filter((day) => day > after)
    .take(count)
    .toArray();
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
