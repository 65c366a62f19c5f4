import { randomUUID } from 'node:crypto';
import { date, isOf, Workspace, type RecordOf, type Task, type Values } from '@wts/models';
import {
  afterSkip,
  calendarAt,
  dayOf,
  hasNoNextDay,
  nextDueDay,
  ruleFault,
  type Calendar,
  type NextOccurrence,
  type Occurrence,
} from '@wts/models/repeat';
import type { Decision } from '../decision/decision.ts';
import { Refused } from '../decision/refusal.ts';

/*
 * The fields by which a task repeats. The rule is a baton: only the newest task of a series has it, so a unit that finds it gone makes
 * nothing, and each next task is made once. The other fields follow from it and are kept here; a task without a rule has none of them,
 * and costs nothing here. Keeps sync.repeat.fields.
 */

type TaskRecord = RecordOf<typeof Task>;

/** What a task without a rule has. */
export const NO_SERIES = {
  repeatRule: null,
  repeatFrom: 'date',
  repeatAnchor: null,
  repeatIndex: null,
  repeatNextDate: null,
  repeatWaiting: false,
  repeatError: null,
} as const;

const SKIPPED = date({ doc: 'The day to skip.' });

export interface TaskChange {
  readonly id: string;
  readonly before: TaskRecord | null;
  readonly given: Readonly<Values>;
}

/** Sets the fields that follow from the values of a new or changed task, or refuses its rule. */
export function deriveSeries(decision: Decision, values: Values, change: TaskChange): void {
  const { before, given } = change;
  const had = before?.repeatRule ?? null;
  const rule = 'repeatRule' in values ? values['repeatRule'] : had;
  if (before && given['repeatSkip'] !== undefined) skip(decision, values, before, given);
  else if (rule !== null) goOn(decision, values, change);
  else if (had !== null || values['repeatFrom'] === 'completion') Object.assign(values, NO_SERIES);
}

/** The task has a rule after the change. */
function goOn(decision: Decision, values: Values, change: TaskChange): void {
  const { before } = change;
  const after = { ...before, ...values } as TaskRecord;
  const isNewRule = after.repeatRule !== before?.repeatRule;
  const own = dayOf(after);
  const restarts = isNewRule || after.repeatFrom !== before.repeatFrom || own !== dayOf(before);
  const [wasOpen, isOpen] = [(before?.completedAt ?? null) === null, after.completedAt === null];
  if (!restarts && wasOpen === isOpen && before.repeatError === null) return;
  if (restarts) {
    const calendar = calendarOf(decision, after.workspaceId);
    checkRule(after, isNewRule, calendar);
    values['repeatAnchor'] = own ?? calendar.today;
    values['repeatTemplateId'] = seriesIdOf(change);
  }
  if (isNewRule) values['repeatIndex'] = 1;
  values['repeatWaiting'] = false;
  // A completed task whose next one could not be made keeps the day of that.
  const kept = { repeatNextDate: wasOpen ? null : (before?.repeatNextDate ?? null), repeatError: null };
  const occurrence = isOpen ? occurrenceOf({ ...after, ...values }) : null;
  Object.assign(values, occurrence ? dueOf(occurrence, calendarOf(decision, after.workspaceId)) : kept);
}

/** Keeps sync.repeat.error. */
export const NO_NEXT_DAY = 'There is no next task, because the repeatRule has no later day';

/** When the task after an open one is due, or why there is none although the rule does not end. */
function dueOf(occurrence: Occurrence, calendar: Calendar): Pick<TaskRecord, 'repeatNextDate' | 'repeatError'> {
  return {
    repeatNextDate: nextDueDay(occurrence, calendar),
    repeatError: hasNoNextDay(occurrence, calendar) ? NO_NEXT_DAY : null,
  };
}

/** A task that gets a rule again begins another series: the rule of the one before may be with a newer task. */
function seriesIdOf({ id, before }: TaskChange): string {
  if (!before?.repeatTemplateId) return id;
  return before.repeatRule === null ? randomUUID() : before.repeatTemplateId;
}

/** A rule that never comes would be a task that silently never repeats. Keeps sync.mutate.repeat-rule. */
function checkRule(task: TaskRecord, isNewRule: boolean, calendar: Calendar): void {
  const { repeatRule: rule, repeatFrom, startDate, deadlineAt } = task;
  if (rule === null) return;
  if (repeatFrom === 'date' && dayOf(task) === null)
    throw new Refused('validation_failed', 'repeatRule needs a startDate or a deadlineAt, or repeatFrom: completion');
  if (!isNewRule) return;
  const fault = ruleFault({ rule, startDate, deadlineAt }, calendar);
  if (fault !== null) throw new Refused('validation_failed', fault);
}

/**
 * Moves a task to the next day of its rule without completing it. Who names the day that is skipped skips it once, however often and
 * together with however many others. Keeps sync.repeat.skip.
 */
function skip(decision: Decision, values: Values, before: TaskRecord, given: Readonly<Values>): void {
  const { repeatSkip, id: _, ...others } = given;
  const named = SKIPPED.read(repeatSkip);
  const skipped = named.ok ? named.value : null;
  if ((repeatSkip !== true && skipped === null) || Object.keys(others).length > 0)
    throw new Refused('validation_failed', 'repeatSkip must be true or the day to skip, without any other field');
  const occurrence = occurrenceOf(before);
  if (!occurrence || before.completedAt !== null)
    throw new Refused('validation_failed', 'Only an open task that has a repeatRule can be skipped');
  const own = dayOf(before);
  if (skipped !== null && own !== null && skipped < own) return;
  if (skipped !== null && skipped !== own)
    throw new Refused(
      'validation_failed',
      `repeatSkip: the day of this task is ${own ?? 'not set'}, and not ${skipped}`,
    );
  const calendar = calendarOf(decision, before.workspaceId);
  const next = afterSkip(occurrence, calendar);
  if (!next) throw new Refused('validation_failed', 'This is the last task of its series, so it cannot be skipped');
  Object.assign(values, fieldsOf(next, occurrence, calendar));
}

/** The calendar of a workspace, by the clock of PostgreSQL, because those of the replicas differ. */
export function calendarOf(decision: Decision, workspaceId: string): Calendar {
  const { now, timeZone } = decision.reads.fact({ kind: 'calendar', workspaceId });
  const changed = decision.changes.row(Workspace, workspaceId);
  return calendarAt(now, changed && isOf(changed, Workspace) ? changed.record.timeZone : timeZone);
}

/** A task as the newest of its series; null without a rule. */
export function occurrenceOf(task: TaskRecord): Occurrence | null {
  const { repeatRule: rule, repeatFrom: from, repeatAnchor, repeatIndex, startDate, deadlineAt, createdAt } = task;
  if (rule === null) return null;
  const anchor = repeatAnchor ?? dayOf(task) ?? createdAt.slice(0, 10);
  return { rule, from, anchor, index: repeatIndex ?? 1, startDate, deadlineAt };
}

/** The dates of the next task of a series, and the fields by which it repeats. */
export function fieldsOf(
  next: NextOccurrence,
  { from }: Pick<Occurrence, 'from'>,
  calendar: Calendar,
): Partial<TaskRecord> {
  const { rule, anchor, index, startDate, deadlineAt } = next;
  const dates = { startDate, deadlineAt };
  if (rule === null) return { ...NO_SERIES, ...dates };
  return {
    ...NO_SERIES,
    ...dates,
    repeatRule: rule,
    repeatFrom: from,
    repeatAnchor: anchor,
    repeatIndex: index,
    ...dueOf({ ...next, rule, from }, calendar),
  };
}
