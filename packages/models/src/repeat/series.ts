import { countOf, ruleDays, untilDay, type Day } from './rule-days.ts';

/** The newest task of a series, as far as its repetition goes. */
export interface Occurrence {
  readonly rule: string;
  /** `date`: days are those of the rule, by its anchor. `completion`: they count from the day on which the task is completed. */
  readonly from: 'date' | 'completion';
  readonly anchor: Day;
  /** 1 is the task on which the rule was set. COUNT is compared with it. */
  readonly index: number;
  readonly startDate: Day | null;
  readonly deadlineAt: Day | null;
}

/** What a series depends on besides its tasks: today, and the time zone of its workspace. */
export interface Calendar {
  readonly today: Day;
  readonly timeZone: string;
}

/** The next occurrence. Its rule is null when it is the last one by COUNT. */
export interface NextOccurrence extends Omit<Occurrence, 'rule' | 'from'> {
  readonly rule: string | null;
  readonly day: Day;
}

/** So many days of a series that nobody looked at are counted for COUNT, so that years of them cost no more. */
const PASSED_MAX = 366;

/** The day of an occurrence: it is this one that moves by the rule, and the other one moves along. */
export function dayOf({ startDate, deadlineAt }: Pick<Occurrence, 'startDate' | 'deadlineAt'>): Day | null {
  return startDate ?? deadlineAt;
}

/** The day in a time zone at a moment, but never a day to come. */
export function completionDay(completedAt: string, { today, timeZone }: Calendar): Day {
  const day = Temporal.Instant.from(completedAt).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  return day < today ? day : today;
}

/**
 * The occurrence after one that is completed, or skipped; null when the series has ended. Its day is never before today, because
 * a task that was overdue when it was made helps nobody, and never a day that the series had.
 */
export function nextAfterCompletion(
  occurrence: Occurrence,
  completedOn: Day,
  calendar: Calendar,
): NextOccurrence | null {
  const { today } = calendar;
  if (occurrence.from === 'completion') {
    const rule = { rule: occurrence.rule, anchor: completedOn };
    const [day] = ruleDays(rule, laterOf(completedOn, dayBefore(today)), 1);
    return day === undefined ? null : occurrenceOn(occurrence, { day, anchor: day, passed: 1 }, calendar);
  }
  const own = dayOf(occurrence) ?? occurrence.anchor;
  const [day] = ruleDays(occurrence, laterOf(own, dayBefore(today)), 1);
  return day === undefined ? null : occurrenceOn(occurrence, { day, ...passedUntil(occurrence, own, day) }, calendar);
}

/**
 * The occurrence whose day has come while the one before is open; null when none has. After days on which nothing was made, it is
 * that of the latest day up to today alone.
 */
export function nextByDate(occurrence: Occurrence, calendar: Calendar): NextOccurrence | null {
  if (occurrence.from !== 'date') return null;
  const own = dayOf(occurrence) ?? occurrence.anchor;
  const day = latestDay(occurrence, own, earlierOf(calendar.today, untilDay(occurrence.rule, calendar.timeZone)));
  return day === null ? null : occurrenceOn(occurrence, { day, ...passedUntil(occurrence, own, day) }, calendar);
}

/** The next day on which an occurrence is made by its date; null when there is none. */
export function nextDueDay(occurrence: Occurrence, calendar: Calendar): Day | null {
  if (occurrence.from !== 'date' || occurrence.index >= countOf(occurrence.rule)) return null;
  const [day] = ruleDays(occurrence, dayOf(occurrence) ?? occurrence.anchor, 1);
  return day === undefined || isPastUntil(occurrence.rule, day, calendar) ? null : day;
}

/** The moment at which a day begins, which is not midnight where clocks change at midnight. */
export function beginningOf(day: Day, timeZone: string): string {
  return Temporal.PlainDate.from(day).toZonedDateTime({ timeZone }).toInstant().toString();
}

export function dayAt(moment: string, timeZone: string): Day {
  return Temporal.Instant.from(moment).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** The first days of a series, its first occurrence included, as if each were completed on its day. */
export function previewDays(series: Omit<Occurrence, 'index'>, count: number, { timeZone }: Calendar): Day[] {
  const first = dayOf(series) ?? series.anchor;
  const days = [first];
  let occurrence: Occurrence = { ...series, index: 1 };
  while (days.length < count && occurrence.index < countOf(series.rule)) {
    const day: Day = dayOf(occurrence) ?? series.anchor;
    const next = nextAfterCompletion(occurrence, day, { today: day, timeZone });
    if (next === null) break;
    days.push(next.day);
    occurrence = { ...occurrence, ...next, rule: series.rule };
  }
  return days;
}

/** Whether a rule never comes again, for a task with these dates, or one without any that begins today. */
export function hasNoDay(
  { rule, ...dates }: Pick<Occurrence, 'rule' | 'startDate' | 'deadlineAt'>,
  today: Day,
): boolean {
  const anchor = dayOf(dates) ?? today;
  return ruleDays({ rule, anchor }, laterOf(anchor, today), 1).length === 0;
}

/** An occurrence on a day, with both dates moved by the same distance; null when COUNT or UNTIL ends the series before. */
function occurrenceOn(
  { rule, index, startDate, deadlineAt }: Occurrence,
  { day, anchor, passed }: { readonly day: Day; readonly anchor: Day; readonly passed: number },
  calendar: Calendar,
): NextOccurrence | null {
  const count = countOf(rule);
  const nextIndex = index + passed;
  if (nextIndex > count || isPastUntil(rule, day, calendar)) return null;
  const own = startDate ?? deadlineAt;
  const distance = own === null ? null : Temporal.PlainDate.from(own).until(day);
  const move = (date: Day | null): Day | null =>
    date === null || distance === null ? null : Temporal.PlainDate.from(date).add(distance).toString();
  return {
    day,
    anchor,
    index: nextIndex,
    rule: nextIndex === count ? null : rule,
    startDate: own === null ? day : move(startDate),
    deadlineAt: move(deadlineAt),
  };
}

/** How many days of the rule lie after a day up to another one that is such a day. */
function passedUntil(occurrence: Occurrence, own: Day, day: Day): { readonly anchor: Day; readonly passed: number } {
  const { anchor, rule } = occurrence;
  if (countOf(rule) === Infinity) return { anchor, passed: 1 };
  const passed = ruleDays(occurrence, own, PASSED_MAX).filter((one) => one <= day).length;
  return { anchor, passed: Math.max(passed, 1) };
}

/** The latest day of a rule after a day, up to another; null when there is none. */
function latestDay(rule: Occurrence, after: Day, until: Day): Day | null {
  const [next] = ruleDays(rule, after, 1);
  if (next === undefined || next > until) return null;
  // Most series have few days in a month; a yearly one has one in a window of years.
  for (const days of WINDOW_DAYS) {
    const start = laterOf(after, Temporal.PlainDate.from(until).subtract({ days }).toString());
    const latest = ruleDays(rule, start, days)
      .filter((day) => day <= until)
      .at(-1);
    if (latest !== undefined) return latest;
  }
  return next;
}

const WINDOW_DAYS = [31, 366, 3660] as const;

function isPastUntil(rule: string, day: Day, { timeZone }: Calendar): boolean {
  const until = untilDay(rule, timeZone);
  return until !== null && day > until;
}

function dayBefore(day: Day): Day {
  return Temporal.PlainDate.from(day).subtract({ days: 1 }).toString();
}

function laterOf(one: Day, other: Day): Day {
  return one > other ? one : other;
}

function earlierOf(one: Day, other: Day | null): Day {
  return other !== null && other < one ? other : one;
}
