import {
  buildRecord,
  differences,
  findModel,
  idIn,
  RANK_FIELD,
  Task,
  User,
  unknownModel,
  type Model,
  type RecordOf,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import {
  checkConfirmation,
  checkDeletionCondition,
  refuseChangeOfArchived,
  refuseInDeletedWorkspace,
  refuseInsertBelow,
} from './archived.ts';
import { deleteWithDescendants } from './cascade.ts';
import type { Decision } from './decision.ts';
import { addEntry, ensureMembers, insertRow, moveRow, updateRow } from './effects.ts';
import { checkKeys } from './keys.ts';
import { locationOf } from './location.ts';
import { completesOccurrence, insertNext, readForNext, stepOnCompletion } from './occurrence.ts';
import { permit, permitFields, permitInsert, permitMove, permitScope, forbidden } from './permissions.ts';
import { lockList, moveBehind, placeOf, readPayload } from './placement.ts';
import { checkReferences } from './references.ts';
import { notFound, Refused } from './refusal.ts';
import { checkGroupId, checkMembership, derive } from './rules.ts';
import type { Effect, Mutation } from './unit.ts';
import { belongsTo, type Location } from './visibility.ts';

/** The entry that the result of a mutation names, the last one of its record; the position where it is an earlier one. */
export type Main = Effect | bigint;

/**
 * Decides one mutation: changes rows and adds entries, or throws why the unit is refused.
 *
 * Keeps sync.mutate.deleted (a deleted record is not found), sync.mutate.server-assigned, sync.mutate.insert-replay and
 * sync.mutate.archive.
 */
export function decide(decision: Decision, mutation: Mutation): Main {
  const { modelName, payload, action } = mutation;
  const model = findModel(modelName);
  if (!model) throw new Refused('validation_failed', unknownModel(modelName));
  permitScope(decision, model);
  const id = mutation.modelId.toLowerCase();
  const given = payload['id'];
  if (given !== undefined && (typeof given !== 'string' || given.toLowerCase() !== id))
    throw new Refused('validation_failed', 'payload.id must equal modelId');
  if (action === 'INSERT') return insert(decision, model, id, payload);

  const row = decision.row(model, id, 'write');
  if (!row) throw new Refused('not_found', `${model.name} not found`);
  permit(decision, row, action === 'DELETE' ? 'delete' : action === 'UPDATE' ? 'update' : 'archive');
  refuseInDeletedWorkspace(decision, row, action);
  if (action === 'DELETE') remove(decision, row, payload);
  else if (action === 'UPDATE') update(decision, row, payload);
  else archive(decision, row, action, payload);
  // A mutation that changes nothing succeeds with the position of the last entry. It adds no entry, because readers would get a
  // change without content. Keeps sync.mutate.no-change.
  return decision.lastEntry(model, id);
}

function insert(decision: Decision, model: Model, id: string, payload: Mutation['payload']): Main {
  const { now, unit, changes } = decision;
  const { values, placement } = readPayload(model, payload, null);
  const fields = Object.entries(model.fields);
  for (const [name, { assigned }] of fields) if (assigned === 'actor') values[name] = decision.userId;

  if (!decision.isByService && model.permissions.insert === 'service') throw forbidden(model, 'insert');
  const home = values['workspaceId'];
  if (typeof home === 'string' && !belongsTo(decision, home)) throw notFound('workspaceId', 'Workspace');
  derive(decision, model, values, { id, before: null, given: payload });
  const times = { createdAt: now, updatedAt: now, archivedAt: null };
  const record = buildRecord(model, id, values, times);
  if (placement) lockList(decision, model, record);
  const location = locationOf(decision, model, record);
  const draft: Row = { model, id, ...location, record, text: '' };
  checkReferences(decision, draft, { fields: Object.keys(values) });
  permitInsert(decision, draft);
  refuseInsertBelow(decision, draft);
  checkMembership(decision, null, draft);
  if (decision.isBeingDeleted(model, id))
    throw new Refused(
      'conflict',
      `A ${model.name} with this id is being deleted with all its parts; try again shortly`,
    );
  if (decision.isTaken(model, id)) return earlierInsert(decision, model, id);
  checkKeys(decision, null, draft);
  checkGroupId(decision, model, id);
  const place = placement && placeOf(decision, draft, placement, null);
  if (place) values[RANK_FIELD] = place.rank;
  for (const [name, { assigned }] of fields)
    if (assigned === 'counter') values[name] = decision.nextNumber(idIn(values, 'workspaceId'));
  const row = rowOf(model, location, buildRecord(model, id, values, times));
  insertRow(decision, row);
  if (place) moveBehind(decision, place);
  const entry = decision.lastEntry(model, id);
  changes.setCreation(model, id, { clientId: unit.clientId, actorId: decision.userId, entry });
  return entry;
}

/** A client that inserts the same record again, under another transaction id, gets the result of its first mutation. */
function earlierInsert(decision: Decision, model: Model, id: string): Main {
  const creation = decision.creation(model, id);
  if (creation?.clientId !== decision.unit.clientId || creation.actorId !== decision.userId)
    throw new Refused('conflict', `A ${model.name} with this id already exists`);
  return creation.entry;
}

function update(decision: Decision, row: Row, payload: Mutation['payload']): void {
  const { model, record } = row;
  const { now } = decision;
  const { values, placement } = readPayload(model, payload, record);
  derive(decision, model, values, { id: row.id, before: record, given: payload });
  const changed = differences(model, record, values);
  // Of a person, whose address the service of identities decides.
  const mayChangeAll = decision.isByService && model === User;
  const fixed = mayChangeAll ? [] : changed.filter((name) => model.fields[name]?.immutable);
  if (fixed.length > 0) throw new Refused('validation_failed', `${fixed.join(', ')} cannot be changed`);
  permitFields(decision, row, changed);

  const merged = { ...record, ...values };
  const repeats = model === Task && completesOccurrence(record, merged);
  if (repeats) readForNext(decision, { ...row, record: merged });
  if (placement) lockList(decision, model, merged);
  const location = locationOf(decision, model, merged);
  const draft: Row = { model, id: row.id, ...location, record: merged, text: '' };
  const step = repeats ? stepOnCompletion(decision, draft) : null;
  if (step) {
    Object.assign(merged, step.values);
    changed.splice(0, Infinity, ...differences(model, record, merged));
  }
  const place = placement && placeOf(decision, draft, placement, row);
  if (place) {
    merged[RANK_FIELD] = place.rank;
    changed.push(...differences(model, record, { [RANK_FIELD]: place.rank }));
  }
  if (changed.length > 0 || location.groupId !== row.groupId) {
    const next = rowOf(model, location, buildRecord(model, row.id, merged, { ...record, updatedAt: now }));
    refuseChangeOfArchived(decision, { before: row, after: next, changed });
    permitMove(decision, row, next);
    checkReferences(decision, next, { fields: changed, before: record });
    checkMembership(decision, row, next);
    checkKeys(decision, row, next);
    if (next.groupId !== row.groupId) moveRow(decision, { before: row, after: next, changed });
    else updateRow(decision, row, next, changed);
    if (next.groupId === row.groupId && changed.includes('leadId')) ensureMembers(decision, next);
    if (step?.next) insertNext(decision, next, step.next);
  }
  if (place) moveBehind(decision, place);
}

/**
 * ARCHIVE and UNARCHIVE do not change `updatedAt`, so that `archivedAt` is the only change. When the parent of the record was moved
 * and the sweep has not moved the record yet, the record is moved first.
 */
function archive(decision: Decision, row: Row, action: 'ARCHIVE' | 'UNARCHIVE', payload: Mutation['payload']): void {
  const { model, record } = row;
  if (!model.archivable) throw new Refused('validation_failed', `A ${model.name} cannot be archived`);
  if (action === 'ARCHIVE') checkConfirmation(row, payload);
  const archivedAt = action === 'ARCHIVE' ? decision.now : null;
  if ((typeof record.archivedAt === 'string') === (archivedAt !== null)) return;
  const moved: Row = { ...row, groupId: locationOf(decision, model, record).groupId };
  if (moved.groupId !== row.groupId) moveRow(decision, { before: row, after: moved, changed: [] });
  const next = rowOf(model, moved, { ...record, archivedAt });
  decision.changes.put(next);
  addEntry(decision, next, action, { data: JSON.stringify({ archivedAt }), changed: ['archivedAt'] });
}

function remove(decision: Decision, row: Row, payload: Mutation['payload']): void {
  checkDeletionCondition(row, payload);
  checkMembership(decision, row, null);
  deleteWithDescendants(decision, row);
}

function rowOf(model: Model, { workspaceId, groupId }: Location, record: RecordOf<Model>): Row {
  return { model, id: record.id, workspaceId, groupId, record, text: JSON.stringify(record) };
}
