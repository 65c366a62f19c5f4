import { randomUUID } from 'node:crypto';
import {
  buildRecord,
  isOf,
  Label,
  Project,
  Task,
  TaskChecklistItem,
  Team,
  type Model,
  type RecordOf,
  type Values,
} from '@wts/models';
import {
  completionDay,
  hasNoNextDay,
  nextAfterCompletion,
  nextByDate,
  nextDueDay,
  type Calendar,
  type NextOccurrence,
  type Occurrence,
} from '@wts/models/repeat';
import { SYNC_LIMITS } from '../limits.ts';
import type { Row, RowOf } from '../store/rows.ts';
import { isDeletedWorkspace } from './archived.ts';
import type { Decision } from '../decision/decision.ts';
import { changeValues, insertRow } from './effects.ts';
import { forEachCollecting } from '../decision/lookup.ts';
import { lockList, moveBehind, placeOf, type Place } from './placement.ts';
import { ChangeTooLarge, Refused } from '../decision/refusal.ts';
import { calendarOf, fieldsOf, NO_NEXT_DAY, NO_SERIES, occurrenceOf } from './series.ts';
import type { DueTask } from '../decision/unit.ts';
import { currentLocation, roleIn } from './visibility.ts';

/*
 * The next task of a series. The mutation that completes the newest task makes it, or the scheduler when its day comes (`schedule/`).
 * The commit that makes it moves the rule from the one task, whose row is locked, to the other. So there is one next task, however often
 * and on however many replicas the one before is completed; and a commit that crashes has made nothing. Keeps sync.repeat.once.
 *
 * Only a task that has a rule costs anything here.
 */

type TaskRecord = RecordOf<typeof Task>;
type TaskRow = RowOf<typeof Task>;

/** A next task that is decided, and is made after the change of the one before it. */
interface NextTask {
  readonly occurrence: Occurrence;
  readonly next: NextOccurrence;
  readonly calendar: Calendar;
  readonly items: readonly RowOf<typeof TaskChecklistItem>[];
}

/** What changes in the task before, and the next one, if one is made. */
interface Step {
  readonly values: Partial<TaskRecord>;
  readonly next: NextTask | null;
}

const NOTHING: Step = { values: {}, next: null };

/** Whether an update completes the newest task of a series that is not in Trash. */
export function completesOccurrence(before: RecordOf<Model>, after: Values): boolean {
  const isCompleted = before['completedAt'] === null && after['completedAt'] !== null;
  return isCompleted && typeof after['repeatRule'] === 'string' && before.archivedAt === null;
}

/**
 * Decides about the next task when this one is completed; `task` is the record that it will be. Its dates count from the day of
 * completion or from its own, and are never before today. Keeps sync.repeat.completion.
 */
export function stepOnCompletion(decision: Decision, task: Row): Step {
  if (!isOf(task, Task)) return NOTHING;
  const { completedAt, workspaceId } = task.record;
  const occurrence = occurrenceOf(task.record);
  if (!occurrence || completedAt === null) return NOTHING;
  const calendar = calendarOf(decision, workspaceId);
  const next = nextAfterCompletion(occurrence, completionDay(completedAt, calendar), calendar);
  if (next) return stepTo(decision, task.record, { occurrence, next, calendar });
  return hasNoNextDay(occurrence, calendar) ? { values: { repeatError: NO_NEXT_DAY }, next: null } : NOTHING;
}

/**
 * Decides about a task whose day the scheduler found: makes the next one, unless too many of the series are open. Whatever changed
 * since is seen under the lock of its row, so it does not matter how often the scheduler finds a day. Keeps sync.repeat.by-date and
 * sync.repeat.waiting.
 */
export function decideDueTask(decision: Decision, { taskId, day, openMax, failure }: DueTask): void {
  const row = decision.row(Task, taskId, 'write');
  const occurrence = row && occurrenceOf(row.record);
  if (!occurrence || row.record.repeatNextDate !== day || row.record.archivedAt !== null) return;
  if (isDeletedWorkspace(decision, row.record.workspaceId)) return;
  if (failure !== undefined) return changeValues(decision, row, { repeatError: failure });
  readForNext(decision, row);
  const { record } = row;
  // A sweep deletes or moves it.
  if (currentLocation(decision, row)?.groupId !== row.groupId) return;
  const calendar = calendarOf(decision, record.workspaceId);
  const { completedAt } = record;
  const next =
    completedAt === null
      ? nextByDate(occurrence, calendar)
      : nextAfterCompletion(occurrence, completionDay(completedAt, calendar), calendar);
  if (!next)
    return changeValues(decision, row, {
      repeatNextDate: completedAt === null ? nextDueDay(occurrence, calendar) : null,
    });
  if (completedAt === null && openOf(decision, record) >= openMax) {
    const later = nextDueDay(occurrence, calendar, calendar.today);
    return changeValues(decision, row, { repeatNextDate: later, repeatWaiting: later !== null });
  }
  const step = stepTo(decision, record, { occurrence, next, calendar });
  changeValues(decision, row, step.values);
  if (step.next) insertNext(decision, row, step.next);
}

/** How many tasks of its series are open, of the newest hundred. */
function openOf(decision: Decision, { repeatTemplateId }: TaskRecord): number {
  return repeatTemplateId === null ? 1 : decision.reads.fact({ kind: 'open-tasks', seriesId: repeatTemplateId });
}

/** The rule goes to the next task, unless that cannot be made: then its day stays, on which the scheduler tries it. */
function stepTo(decision: Decision, task: TaskRecord, made: Omit<NextTask, 'items'>): Step {
  const waits = { repeatNextDate: made.next.day };
  const project = task.projectId === null ? null : decision.row(Project, task.projectId, 'refer');
  if (project && project.record.archivedAt !== null) return { values: waits, next: null };
  const items = itemsOf(decision, task.id);
  if (items === null) return { values: { ...waits, repeatError: TOO_MANY_ITEMS }, next: null };
  return { values: NO_SERIES, next: { ...made, items } };
}

const ITEMS_MAX = SYNC_LIMITS.repeatChecklistItemsMax;
/** Keeps sync.repeat.error. */
const TOO_MANY_ITEMS = `The next task was not created, because the checklist of this one has more than ${ITEMS_MAX} items`;

/** Null: too many to be copied. */
function itemsOf(decision: Decision, taskId: string): readonly RowOf<typeof TaskChecklistItem>[] | null {
  try {
    const items = decision.related({ model: TaskChecklistItem, field: 'taskId', value: taskId }, 'refer');
    return items.length > ITEMS_MAX ? null : items;
  } catch (error) {
    if (error instanceof ChangeTooLarge) return null;
    throw error;
  }
}

/** Reads in one round what the next task needs, and locks the list before anything locks its parent more weakly. */
export function readForNext(decision: Decision, task: Row): void {
  if (!isOf(task, Task)) return;
  const { record, id } = task;
  forEachCollecting<() => unknown>(
    [
      () => lockList(decision, Task, record),
      () => calendarOf(decision, record.workspaceId),
      () => itemsOf(decision, id),
      () => aliveReferences(decision, record),
      () => decision.reads.fact({ kind: 'counter', workspaceId: record.workspaceId }),
      () => placeBehind(decision, task),
    ],
    (read) => read(),
  );
}

/** Makes the next task right behind the one before it, with its checklist. `before` is the row without the changes of this commit. */
export function insertNext(decision: Decision, before: Row, { occurrence, next, calendar, items }: NextTask): void {
  const row = decision.row(Task, before.id, 'write');
  if (!row) return;
  const { now } = decision;
  const { record, workspaceId, groupId } = row;
  const id = randomUUID();
  const place = placeBehind(decision, row);
  const values = {
    ...record,
    ...fieldsOf(next, occurrence, calendar),
    ...aliveReferences(decision, record),
    start: next.day > calendar.today ? 'not_started' : 'started',
    todayIndexReferenceDate: null,
    completedAt: null,
    sortOrder: place?.rank ?? record.sortOrder,
    number: decision.nextNumber(record.workspaceId),
  };
  const times = { createdAt: now, updatedAt: now, archivedAt: null };
  const insert = (model: Model, newId: string, copied: Values): void => {
    const made = buildRecord(model, newId, copied, times);
    insertRow(decision, { model, id: newId, workspaceId, groupId, record: made, text: JSON.stringify(made) });
  };
  insert(Task, id, values);
  for (const { record: item } of items)
    insert(TaskChecklistItem, randomUUID(), { ...item, taskId: id, completedAt: null });
  if (place) moveBehind(decision, place);
}

/** Null: the task has no rank, or there is none behind it; then the next one has the same. */
function placeBehind(decision: Decision, task: TaskRow): Place | null {
  if (task.record.sortOrder === '') return null;
  try {
    return placeOf(decision, { ...task, id: randomUUID() }, { after: task.id, before: null }, null);
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** What the task refers to, without what was deleted or archived, and without a person who left. */
function aliveReferences(
  decision: Decision,
  { workspaceId, teamId, labelIds, assigneeId }: TaskRecord,
): Pick<TaskRecord, 'teamId' | 'labelIds' | 'assigneeId'> {
  const labels: string[] = [];
  const alive = { teamId, labelIds: labels, assigneeId };
  const isAlive = (model: typeof Team | typeof Label, id: string): boolean => {
    const row = decision.row<Model>(model, id, 'refer');
    return row !== null && (row.record.archivedAt ?? null) === null;
  };
  forEachCollecting<() => unknown>(
    [
      () => teamId !== null && !isAlive(Team, teamId) && (alive.teamId = null),
      () => assigneeId !== null && roleIn(decision, workspaceId, assigneeId) === null && (alive.assigneeId = null),
      ...labelIds.map((id) => () => isAlive(Label, id) && labels.push(id)),
    ],
    (check) => check(),
  );
  return alive;
}
