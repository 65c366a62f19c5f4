import {
  buildRecord,
  differences,
  findModel,
  idIn,
  RANK_FIELD,
  unknownModel,
  type Model,
  type RecordOf,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import { deleteWithDescendants } from './cascade.ts';
import type { DecisionState } from './decision-state.ts';
import { effectOf, ensureMembers, insertRow, moveRow, updateRow } from './effects.ts';
import { checkKeys } from './keys.ts';
import { lockList, placeRow, readPayload } from './placement.ts';
import { locationOf, notFound } from './location.ts';
import { belongsTo, forbidden, permit, permitFields, permitInsert, permitMove, permitScope } from './permissions.ts';
import { checkReferences } from './references.ts';
import { refuse, type Refusal } from './refusal.ts';
import { checkGroupId, checkMembership, checkRepeatRule, derive } from './rules.ts';
import type { Effect, Mutation, Unit } from './unit.ts';

export type Decision =
  | { readonly ok: true; readonly effects: readonly Effect[]; readonly main: Effect | null; readonly replayOf?: bigint }
  | Refusal;

/**
 * Decides one mutation: its entries for the log, or why it is refused. Changes the state when it is accepted.
 *
 * Keeps sync.mutate.deleted (a deleted record is not found), sync.mutate.server-assigned, sync.mutate.insert-replay and
 * sync.mutate.archive.
 */
export function decide(state: DecisionState, unit: Unit, mutation: Mutation): Decision {
  const model = findModel(mutation.modelName);
  if (!model) return refuse('validation_failed', unknownModel(mutation.modelName));
  const unscoped = permitScope(unit, model);
  if (unscoped) return unscoped;
  const id = mutation.modelId.toLowerCase();
  const given = mutation.payload['id'];
  if (given !== undefined && (typeof given !== 'string' || given.toLowerCase() !== id)) {
    return refuse('validation_failed', 'payload.id must equal modelId');
  }
  if (mutation.action === 'INSERT') return insert(state, unit, model, mutation);

  const row = state.row(model, id, 'write');
  if (!row) return refuse('not_found', `${model.name} not found`);
  if (mutation.action === 'DELETE') return remove(state, unit, row);
  const refusal = permit(state, unit, row, 'update');
  if (refusal) return refusal;
  return mutation.action === 'UPDATE' ? update(state, unit, row, mutation) : archive(state, unit, row, mutation);
}

function insert(state: DecisionState, unit: Unit, model: Model, mutation: Mutation): Decision {
  const id = mutation.modelId.toLowerCase();
  const { now } = state;
  const given = readPayload(model, mutation.payload, null);
  if (!given.ok) return given;
  const { values, placement } = given;
  for (const [name, { assigned }] of Object.entries(model.fields))
    if (assigned === 'actor') values[name] = unit.principal.userId;

  if (unit.authority === 'caller' && model.permissions.insert === 'service') return forbidden(model);
  const home = values['workspaceId'];
  if (typeof home === 'string' && !belongsTo(state, unit, home)) return notFound('workspaceId', 'Workspace');
  derive(model, values, { before: null, given: mutation.payload, now });
  const times = { createdAt: now, updatedAt: now, archivedAt: null };
  const record = buildRecord(model, id, values, times);
  lockList(state, model, record, placement);
  const location = locationOf(state, unit, model, record);
  if (!location.ok) return location;
  const { workspaceId, groupId } = location;
  const draft: Row = { model, id, workspaceId, groupId, record, text: '' };
  const refusal =
    checkReferences(state, unit, draft, { fields: Object.keys(values) }) ??
    permitInsert(state, unit, draft) ??
    checkMembership(state, unit, null, draft) ??
    checkRepeatRule(draft, ['repeatRule'], now);
  if (refusal) return refusal;

  if (state.isBeingDeleted(model, id))
    return refuse('conflict', `A ${model.name} with this id is being deleted with all its parts; try again shortly`);
  if (state.isTaken(model, id)) return replayOrConflict(state, unit, model, id);
  const conflict = checkKeys(state, null, draft) ?? checkGroupId(state, model, id);
  if (conflict) return conflict;
  const placed = placeRow(state, unit, draft, { placement, before: null, values });
  if (!placed.ok) return placed;
  for (const [name, { assigned }] of Object.entries(model.fields)) {
    if (assigned === 'counter') values[name] = state.nextNumber(idIn(values, 'workspaceId'));
  }
  const row = rowOf(model, location, buildRecord(model, id, values, times));
  const effects = [...insertRow(state, unit, row), ...placed.moved];
  const main = mainOf(effects, row);
  state.recordCreation(row, { clientId: unit.clientId, actorId: unit.principal.userId, entry: main });
  return { ok: true, effects, main };
}

/** A client that inserts the same record again, under another transaction id, gets the result of its first mutation. */
function replayOrConflict(state: DecisionState, unit: Unit, model: Model, id: string): Decision {
  const creation = state.creation(model, id);
  if (creation && creation.clientId === unit.clientId && creation.actorId === unit.principal.userId) {
    const { entry: first } = creation;
    return {
      ok: true,
      effects: [],
      ...(typeof first === 'bigint' ? { main: null, replayOf: first } : { main: first }),
    };
  }
  return refuse('conflict', `A ${model.name} with this id already exists`);
}

function update(state: DecisionState, unit: Unit, row: Row, mutation: Mutation): Decision {
  const { model } = row;
  const { now } = state;
  const given = readPayload(model, mutation.payload, row.record);
  if (!given.ok) return given;
  const { values, placement } = given;
  derive(model, values, { before: row.record, given: mutation.payload, now });
  const changed = differences(model, row.record, values);
  const fixed = changed.filter((name) => model.fields[name]?.immutable);
  if (fixed.length > 0) return refuse('validation_failed', `${fixed.join(', ')} cannot be changed`);
  const unpermitted = permitFields(state, unit, row, changed);
  if (unpermitted) return unpermitted;

  const merged = { ...row.record, ...values };
  lockList(state, model, merged, placement);
  const location = locationOf(state, unit, model, merged);
  if (!location.ok) return location;
  const { workspaceId, groupId } = location;
  const draft: Row = { model, id: row.id, workspaceId, groupId, record: merged, text: '' };
  const placed = placeRow(state, unit, draft, { placement, before: row, values: merged });
  if (!placed.ok) return placed;
  changed.push(...differences(model, row.record, placement ? { [RANK_FIELD]: merged[RANK_FIELD] } : {}));
  if (changed.length === 0 && location.groupId === row.groupId) return unchanged(state, row);
  const next = rowOf(model, location, buildRecord(model, row.id, merged, { ...row.record, updatedAt: now }));
  const refusal =
    permitMove(state, unit, row, next) ??
    checkReferences(state, unit, next, { fields: changed, before: row.record }) ??
    checkMembership(state, unit, row, next) ??
    checkRepeatRule(next, changed, now) ??
    checkKeys(state, row, next);
  if (refusal) return refusal;
  const own =
    next.groupId === row.groupId
      ? [
          ...updateRow(state, row, next, changed),
          ...(changed.includes('leadId') ? ensureMembers(state, unit, next) : []),
        ]
      : moveRow(state, unit, { before: row, after: next, changed });
  return { ok: true, effects: [...own, ...placed.moved], main: mainOf(own, next) };
}

/**
 * ARCHIVE and UNARCHIVE do not change `updatedAt`, so that `archivedAt` is the only change. When the parent of the record was moved
 * and the sweep has not moved the record yet, the record is moved first.
 */
function archive(state: DecisionState, unit: Unit, row: Row, mutation: Mutation): Decision {
  const { model } = row;
  if (!model.archivable) return refuse('validation_failed', `A ${model.name} cannot be archived`);
  const isArchiving = mutation.action === 'ARCHIVE';
  const isArchived = typeof row.record.archivedAt === 'string';
  if (isArchived === isArchiving) return unchanged(state, row);
  const location = locationOf(state, unit, model, row.record);
  if (!location.ok) return location;
  const moved: Row = { ...row, groupId: location.groupId };
  const effects =
    location.groupId === row.groupId ? [] : moveRow(state, unit, { before: row, after: moved, changed: [] });
  const archivedAt = isArchiving ? state.now : null;
  const next = rowOf(model, moved, { ...row.record, archivedAt });
  state.put(next);
  const main = effectOf(next, isArchiving ? 'ARCHIVE' : 'UNARCHIVE', {
    data: JSON.stringify({ archivedAt }),
    changed: ['archivedAt'],
  });
  return { ok: true, effects: [...effects, main], main };
}

/**
 * A mutation that changes nothing succeeds with the position of the record's last entry. It adds no entry, because readers would
 * get a change without content. Keeps sync.mutate.no-change.
 */
function unchanged(state: DecisionState, row: Row): Decision {
  const last = state.lastEntry(row.model, row.id);
  return { ok: true, effects: [], ...(typeof last === 'bigint' ? { main: null, replayOf: last } : { main: last }) };
}

function remove(state: DecisionState, unit: Unit, row: Row): Decision {
  const refusal = permit(state, unit, row, 'delete') ?? checkMembership(state, unit, row, null);
  if (refusal) return refusal;
  const effects = deleteWithDescendants(state, unit, row);
  return { ok: true, effects, main: mainOf(effects, row) };
}

/** The entry that the result of the mutation names: the last one of its own record. */
function mainOf(effects: readonly Effect[], row: Row): Effect | null {
  return effects.findLast(({ model, id }) => model === row.model && id === row.id) ?? null;
}

function rowOf(
  model: Model,
  { workspaceId, groupId }: Pick<Row, 'workspaceId' | 'groupId'>,
  record: RecordOf<Model>,
): Row {
  return { model, id: record.id, workspaceId, groupId, record, text: JSON.stringify(record) };
}
