import { countOf, hasNoDay, ruleDays, untilDay, yearsAfter, type Day } from './rule-days.ts';

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

/** So many days of a series on which nothing was made are counted, within so many years, so that more of them cost no more. */
const PASSED_MAX = 366;
const PASSED_YEARS_MAX = 10;

/** The day of an occurrence: it is this one that moves by the rule, and the other date moves along. */
export function dayOf({ startDate, deadlineAt }: Pick<Occurrence, 'startDate' | 'deadlineAt'>): Day | null {
  return startDate ?? deadlineAt;
}

/** The calendar of a time zone at a moment. A zone that this version of Node does not know any more counts as UTC. */
export function calendarAt(moment: string, timeZone: string): Calendar {
  const instant = Temporal.Instant.from(moment);
  try {
    return { today: instant.toZonedDateTimeISO(timeZone).toPlainDate().toString(), timeZone };
  } catch (error) {
    if (timeZone === 'UTC') throw error;
    return calendarAt(moment, 'UTC');
  }
}

/** The day on which a task was completed, but never a day to come. */
export function completionDay(completedAt: string, { today, timeZone }: Calendar): Day {
  return earlierOf(today, calendarAt(completedAt, timeZone).today);
}

/**
 * The occurrence after one that is completed; null when the series has ended. Its day is never before today, because a task that was
 * overdue when it was made is of no use, and never a day that the series had.
 */
export function nextAfterCompletion(
  occurrence: Occurrence,
  completedOn: Day,
  calendar: Calendar,
): NextOccurrence | null {
  const yesterday = addDays(calendar.today, -1);
  if (occurrence.from === 'completion') {
    const rule = { rule: occurrence.rule, anchor: completedOn };
    const [day] = ruleDays(rule, laterOf(completedOn, yesterday), 1);
    return day === undefined ? null : occurrenceOn(occurrence, { day, anchor: day, passed: 1 }, calendar);
  }
  const own = dayOf(occurrence) ?? occurrence.anchor;
  const after = laterOf(own, yesterday);
  const [day] = ruleDays(occurrence, after, 1);
  return day === undefined ? null : occurrenceOn(occurrence, dateOf(occurrence, own, day, after), calendar);
}

/** The same occurrence on the next day of its rule, without being completed; null when this one is the last. */
export function afterSkip(occurrence: Occurrence, calendar: Calendar): NextOccurrence | null {
  return nextAfterCompletion(occurrence, laterOf(calendar.today, dayOf(occurrence) ?? calendar.today), calendar);
}

/**
 * The occurrence whose day has come while the one before is open; null when none has. After days on which nothing was made, it is
 * that of the latest day up to today alone, or of the last one by COUNT or UNTIL.
 */
export function nextByDate(occurrence: Occurrence, calendar: Calendar): NextOccurrence | null {
  if (occurrence.from !== 'date') return null;
  const own = dayOf(occurrence) ?? occurrence.anchor;
  const until = untilDay(occurrence.rule, calendar.timeZone);
  const day = latestDay(occurrence, own, until === null ? calendar.today : earlierOf(calendar.today, until));
  if (day === null) return null;
  const date = dateOf(occurrence, own, day);
  const left = countOf(occurrence.rule) - occurrence.index;
  if (date.passed <= left) return occurrenceOn(occurrence, date, calendar);
  const last = ruleDays(occurrence, own, left).at(-1);
  return last === undefined ? null : occurrenceOn(occurrence, { ...date, day: last, passed: left }, calendar);
}

/** The first day after another one on which an occurrence is made although the one before is open; null when there is none. */
export function nextDueDay(occurrence: Occurrence, calendar: Pick<Calendar, 'timeZone'>, after?: Day): Day | null {
  if (occurrence.from !== 'date') return null;
  const own = dayOf(occurrence) ?? occurrence.anchor;
  const from = after === undefined ? own : laterOf(own, after);
  const [day] = ruleDays(occurrence, from, 1);
  const isNone = day === undefined || occurrenceOn(occurrence, dateOf(occurrence, own, day, from), calendar) === null;
  return isNone ? null : day;
}

/** Whether a series by date stops although its rule does not end: the rule has no day in the next 30 years, or none up to the year 9999. */
export function hasNoNextDay(occurrence: Occurrence, calendar: Pick<Calendar, 'timeZone'>): boolean {
  const { rule, from, index } = occurrence;
  const isEndless = untilDay(rule, calendar.timeZone) === null && index < countOf(rule);
  return from === 'date' && isEndless && nextDueDay(occurrence, calendar) === null;
}

/** The moment at which a day begins, which is not midnight where clocks change at midnight. */
export function beginningOf(day: Day, timeZone: string): string {
  return Temporal.PlainDate.from(day).toZonedDateTime({ timeZone }).toInstant().toString();
}

/** The days of a series, that of its first occurrence included, as if each were completed on its day. */
export function* previewDays(
  series: Omit<Occurrence, 'index'>,
  { timeZone }: Pick<Calendar, 'timeZone'>,
): Generator<Day> {
  let today = dayOf(series) ?? series.anchor;
  let next: Occurrence | NextOccurrence | null = { ...series, index: 1 };
  while (next !== null) {
    yield today;
    if (next.rule === null) return;
    next = nextAfterCompletion({ ...series, ...next, rule: series.rule }, today, { today, timeZone });
    if (next !== null) today = dayOf(next) ?? today;
  }
}

/** Why a task may not get a rule; null when it may. A rule that never comes would be a task that silently never repeats. */
export function ruleFault(
  { rule, ...dates }: Pick<Occurrence, 'rule' | 'startDate' | 'deadlineAt'>,
  { today, timeZone }: Calendar,
): string | null {
  const until = untilDay(rule, timeZone);
  if (until !== null && until < today) return 'repeatRule is over: the day of its UNTIL has passed';
  return hasNoDay({ rule, ...dates }, today) ? 'repeatRule has no day in the next 30 years' : null;
}

interface OccurrenceDate {
  readonly day: Day;
  readonly anchor: Day;
  /** By how many days of the rule it is later than the occurrence before. */
  readonly passed: number;
}

/** An occurrence on a day, with both dates moved by the same distance; null when COUNT or UNTIL ends the series before. */
function occurrenceOn(
  { rule, index, startDate, deadlineAt }: Occurrence,
  { day, anchor, passed }: OccurrenceDate,
  { timeZone }: Pick<Calendar, 'timeZone'>,
): NextOccurrence | null {
  const count = countOf(rule);
  const nextIndex = index + passed;
  const until = untilDay(rule, timeZone);
  if (nextIndex > count || (until !== null && day > until)) return null;
  const own = startDate ?? deadlineAt;
  const move = (date: Day | null): Day | null =>
    date === null || own === null ? null : addDays(date, daysBetween(own, day));
  const deadline = move(deadlineAt);
  // After the year 9999.
  if (deadline?.startsWith('+')) return null;
  return {
    day,
    anchor,
    index: nextIndex,
    rule: nextIndex === count ? null : rule,
    startDate: own === null ? day : move(startDate),
    deadlineAt: deadline,
  };
}

/** The date of an occurrence; `found` is the day after which its day was searched for, where it is the first one. */
function dateOf(occurrence: Occurrence, own: Day, day: Day, found?: Day): OccurrenceDate {
  const { anchor } = occurrence;
  if (found === own || ruleDays(occurrence, own, 1)[0] === day) return { day, anchor, passed: 1 };
  const until = earlierOf(day, yearsAfter(own, PASSED_YEARS_MAX));
  return { day, anchor, passed: Math.max(ruleDays(occurrence, own, PASSED_MAX, until).length, 1) };
}

/** The latest day of a rule after a day, up to another; null when there is none. */
function latestDay(rule: Occurrence, after: Day, until: Day): Day | null {
  const [next, second] = ruleDays(rule, after, 2, until);
  if (next === undefined) return null;
  if (second === undefined) return next;
  // Most series have a day in a month; a yearly one has one in a window of years.
  for (const days of WINDOW_DAYS) {
    const latest = ruleDays(rule, laterOf(after, addDays(until, -days)), days, until).at(-1);
    if (latest !== undefined) return latest;
  }
  return second;
}

const WINDOW_DAYS = [31, 366, 3660] as const;

function addDays(day: Day, days: number): Day {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

function daysBetween(from: Day, to: Day): number {
  return Temporal.PlainDate.from(from).until(to).days;
}

function laterOf(one: Day, other: Day): Day {
  return one > other ? one : other;
}

function earlierOf(one: Day, other: Day): Day {
  return other < one ? other : one;
}
