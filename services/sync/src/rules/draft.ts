import {
  buildRecord,
  Comment,
  differences,
  Project,
  RANK_FIELD,
  readInsert,
  readPlacement,
  readUpdate,
  Task,
  User,
  type Model,
  type Placement,
  type RecordOf,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Change } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { completesOccurrence, readForNext } from './occurrence.ts';
import { lockList } from './placement.ts';
import { notFound, Refused } from '../decision/refusal.ts';
import { deriveSeries, type TaskChange } from './series.ts';
import { belongsTo, locationOf } from './visibility.ts';

/** A change before the rules have seen it. */
export interface Draft extends Change {
  readonly placement: Placement | null;
  /** The newest task of a series becomes complete. */
  readonly repeats: boolean;
}

type Subject = Pick<Change, 'action' | 'model' | 'id' | 'before' | 'given'>;
type Values = Record<string, unknown>;

/** What becomes of a record by a mutation. */
export function draftOf(decision: Decision, subject: Subject): Draft {
  const { action, before } = subject;
  if (before === null || action === 'UPDATE') return written(decision, subject);
  const change = action === 'DELETE' ? { after: null, changed: [] } : archived(decision, before, action);
  return { ...subject, ...change, placement: null, repeats: false };
}

/** `updatedAt` stays, so that `archivedAt` is the only change. Keeps sync.mutate.archive. */
function archived(decision: Decision, before: Row, action: Change['action']): Pick<Change, 'after' | 'changed'> {
  const { model, record } = before;
  if (!model.archivable) throw new Refused('validation_failed', `A ${model.name} cannot be archived`);
  const archivedAt = action === 'ARCHIVE' ? decision.now : null;
  if ((typeof record.archivedAt === 'string') === (archivedAt !== null)) return { after: before, changed: [] };
  const { groupId } = locationOf(decision, model, record);
  return { after: { ...before, groupId, record: { ...record, archivedAt } }, changed: ['archivedAt'] };
}

/** A new record, or one with new values. */
function written(decision: Decision, subject: Subject): Draft {
  const { model, id, before, given } = subject;
  const { now, userId } = decision;
  const { values, placement } = readPayload(model, given, before?.record ?? null);
  if (before === null) {
    for (const [name, { assigned }] of Object.entries(model.fields)) if (assigned === 'actor') values[name] = userId;
    const home = values['workspaceId'];
    if (typeof home === 'string' && !belongsTo(decision, home)) throw notFound('workspaceId', 'Workspace');
  }
  derive(decision, values, subject);
  const changed = before ? differences(model, before.record, values) : Object.keys(values);
  if (before) refuseFixed(decision, model, changed);
  const record = before
    ? { ...before.record, ...values }
    : buildRecord(model, id, values, { createdAt: now, updatedAt: now, archivedAt: null });
  const repeats = before !== null && model === Task && completesOccurrence(before.record, record);
  // Lists are locked before anything locks their parents more weakly.
  if (repeats) readForNext(decision, { ...before, record });
  if (placement) lockList(decision, model, record);
  const after: Row = { model, id, ...locationOf(decision, model, record), record, text: '' };
  return { ...subject, after, changed: placement ? [...changed, RANK_FIELD] : changed, placement, repeats };
}

/** The values of a payload, and its placement. `stored`: the record that an update changes; null for a new one. */
function readPayload(
  model: Model,
  payload: Values,
  stored: RecordOf<Model> | null,
): { readonly values: Values; readonly placement: Placement | null } {
  const placing = readPlacement(model, payload);
  if (!placing.ok) throw new Refused('validation_failed', placing.reason);
  const placement = placing.value;
  const rest = placement === null ? payload : { ...payload, [RANK_FIELD]: undefined };
  const reading = stored === null ? readInsert(model, rest) : readUpdate(model, rest, stored);
  if (!reading.ok) throw new Refused('validation_failed', reading.reason);
  return { values: { ...reading.value }, placement };
}

/** Sets values that follow from others; refuses those that nothing can follow from. */
function derive(decision: Decision, values: Values, { model, id, before, given }: Subject): void {
  const { now } = decision;
  const record = before?.record ?? null;
  if (model === Task) deriveSeries(decision, values, { id, before: record, given } as TaskChange);
  if (model === Comment && record && 'body' in values && values['body'] !== record['body']) values['editedAt'] = now;
  if (model === Project) deriveCompletion(values, { before: record, given, now });
}

/**
 * A project has `completedAt` exactly when its `status` is `done`. The other field follows the one that the mutation changes;
 * if it changes both, `completedAt` follows `status`. Keeps sync.mutate.completed.
 */
function deriveCompletion(
  values: Values,
  { before, given, now }: { before: RecordOf<Model> | null; given: Change['given']; now: string },
): void {
  const differs = (name: string): boolean => given[name] !== undefined && values[name] !== (before?.[name] ?? null);
  const [status, completedAt] = [values['status'] ?? before?.['status'], values['completedAt'] ?? null];
  if (differs('status')) {
    const at = 'completedAt' in values ? completedAt : (before?.['completedAt'] ?? null);
    if (status === 'done') values['completedAt'] = at ?? now;
    else if (at !== null) values['completedAt'] = null;
  } else if (differs('completedAt')) {
    if (completedAt !== null) values['status'] = 'done';
    else if (status === 'done') values['status'] = 'active';
  }
}

function refuseFixed(decision: Decision, model: Model, changed: readonly string[]): void {
  // Of a person, whose address the service of identities decides.
  if (decision.isByService && model === User) return;
  const fixed = changed.filter((name) => model.fields[name]?.immutable);
  if (fixed.length > 0) throw new Refused('validation_failed', `${fixed.join(', ')} cannot be changed`);
}
