import {
  buildRecord,
  differences,
  findModel,
  idIn,
  readInsert,
  readUpdate,
  unknownModel,
  type Model,
  type RecordOf,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import { missing, placeOf } from './audience.ts';
import { remove } from './cascade.ts';
import { arrive, change, ensureMembers, entry, move } from './effects.ts';
import { checkKeys } from './keys.ts';
import { belongsTo, forbidden, permit, permitFields, permitInsert } from './permit.ts';
import { checkReferences } from './references.ts';
import { refuse, type Refusal } from './refusal.ts';
import { derive, guard, useGroup } from './rules.ts';
import type { Effect, Mutation, Unit } from './unit.ts';
import type { World } from './world.ts';

export type Decision =
  | { readonly ok: true; readonly effects: readonly Effect[]; readonly main: Effect | null; readonly replayOf?: bigint }
  | Refusal;

/**
 * Decides one mutation: what becomes true, as entries for the log, or why not. Changes the world when it is accepted.
 *
 * Keeps sync.mutate.deleted (what is gone is not found), sync.mutate.server-assigned, sync.mutate.insert-replay and
 * sync.mutate.archive.
 */
export function decide(world: World, unit: Unit, mutation: Mutation, now: string): Decision {
  const model = findModel(mutation.modelName);
  if (!model) return refuse('validation_failed', unknownModel(mutation.modelName));
  const id = mutation.modelId.toLowerCase();
  const given = mutation.payload['id'];
  if (given !== undefined && (typeof given !== 'string' || given.toLowerCase() !== id)) {
    return refuse('validation_failed', 'payload.id must equal modelId');
  }
  if (mutation.action === 'INSERT') return insert(world, unit, model, id, mutation, now);

  const row = world.row(model, id, 'write');
  if (!row) return refuse('not_found', `${model.name} not found`);
  if (mutation.action === 'DELETE') return removal(world, unit, row, now);
  const refusal = permit(world, unit, row, 'update');
  if (refusal) return refusal;
  return mutation.action === 'UPDATE'
    ? update(world, unit, row, mutation, now)
    : shelve(world, unit, row, mutation, now);
}

function insert(world: World, unit: Unit, model: Model, id: string, mutation: Mutation, now: string): Decision {
  const reading = readInsert(model, mutation.payload);
  if (!reading.ok) return refuse('validation_failed', reading.reason);
  const values = { ...reading.value };
  for (const [name, { assigned }] of Object.entries(model.fields))
    if (assigned === 'actor') values[name] = unit.principal.userId;

  if (unit.authority === 'caller' && model.permissions.insert === 'service') return forbidden(model);
  const home = values['workspaceId'];
  if (typeof home === 'string' && !belongsTo(world, unit, home)) return missing('workspaceId', 'Workspace');
  const place = placeOf(world, unit, model, id, values);
  if (!place.ok) return place;
  derive(model, values, { before: null, given: mutation.payload, now });
  const born = { createdAt: now, updatedAt: now, archivedAt: null };
  const draft: Row = {
    model,
    id,
    workspaceId: place.workspaceId,
    groupId: place.groupId,
    record: buildRecord(model, id, values, born),
    text: '',
  };
  const refusal =
    checkReferences(world, unit, model, values, { fields: Object.keys(values), workspaceId: place.workspaceId }) ??
    permitInsert(world, unit, draft) ??
    guard(world, unit, null, draft);
  if (refusal) return refusal;

  if (world.isSwept(model, id))
    return refuse('conflict', `A ${model.name} with this id is being deleted with all its parts; try again shortly`);
  if (world.isTaken(model, id)) return replayOrConflict(world, unit, model, id);
  const collision = checkKeys(world, null, draft);
  if (collision) return collision;
  const used = useGroup(world, model, id);
  if (used) return used;
  for (const [name, { assigned }] of Object.entries(model.fields)) {
    if (assigned === 'counter') values[name] = world.nextNumber(idIn(values, 'workspaceId'));
  }
  const row = rowOf(model, place, buildRecord(model, id, values, born));
  const effects = arrive(world, unit, row, now);
  const main = mainOf(effects, row);
  world.keepMaker(row, { clientId: unit.clientId, actorId: unit.principal.userId, entry: main });
  return { ok: true, effects, main };
}

/** The same device sending the same new record again, under another transaction id, meets its own record: the first answer stands. */
function replayOrConflict(world: World, unit: Unit, model: Model, id: string): Decision {
  const creation = world.creation(model, id);
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

function update(world: World, unit: Unit, row: Row, mutation: Mutation, now: string): Decision {
  const { model } = row;
  const reading = readUpdate(model, mutation.payload, row.record);
  if (!reading.ok) return refuse('validation_failed', reading.reason);
  const values = { ...reading.value };
  derive(model, values, { before: row.record, given: mutation.payload, now });
  const changed = differences(model, row.record, values);
  const fixed = changed.filter((name) => model.fields[name]?.immutable);
  if (fixed.length > 0) return refuse('validation_failed', `${fixed.join(', ')} cannot be changed`);
  const unpermitted = permitFields(world, unit, row, changed);
  if (unpermitted) return unpermitted;

  const merged = { ...row.record, ...values };
  const place = placeOf(world, unit, model, row.id, merged);
  if (!place.ok) return place;
  if (changed.length === 0 && place.groupId === row.groupId) return unchanged(world, row);
  const next = rowOf(model, place, buildRecord(model, row.id, merged, { ...row.record, updatedAt: now }));
  const refusal =
    checkReferences(world, unit, model, merged, {
      fields: changed,
      workspaceId: place.workspaceId,
      before: row.record,
    }) ??
    guard(world, unit, row, next) ??
    checkKeys(world, row, next);
  if (refusal) return refusal;
  const effects =
    next.groupId === row.groupId
      ? [
          ...change(world, row, next, changed),
          ...(changed.includes('leadId') ? ensureMembers(world, unit, next, now) : []),
        ]
      : move(world, unit, { before: row, after: next, changed }, now);
  return { ok: true, effects, main: mainOf(effects, next) };
}

/**
 * ARCHIVE and UNARCHIVE: leave `updatedAt` alone, so that what the wire shows is all that changed. A record that is still to
 * follow its whole into another group goes there first, as it is.
 */
function shelve(world: World, unit: Unit, row: Row, mutation: Mutation, now: string): Decision {
  const { model } = row;
  if (!model.archivable) return refuse('validation_failed', `A ${model.name} cannot be archived`);
  const archive = mutation.action === 'ARCHIVE';
  const isArchived = typeof row.record.archivedAt === 'string';
  if (isArchived === archive) return unchanged(world, row);
  const place = placeOf(world, unit, model, row.id, row.record);
  if (!place.ok) return place;
  const here: Row = { ...row, groupId: place.groupId };
  const effects =
    place.groupId === row.groupId ? [] : move(world, unit, { before: row, after: here, changed: [] }, now);
  const archivedAt = archive ? now : null;
  const next = rowOf(model, here, { ...row.record, archivedAt });
  world.put(next);
  const main = entry(next, archive ? 'ARCHIVE' : 'UNARCHIVE', {
    data: JSON.stringify({ archivedAt }),
    changed: ['archivedAt'],
  });
  return { ok: true, effects: [...effects, main], main };
}

/**
 * A change that changes nothing succeeds with the place of the record's last entry, and makes none: it would tell everybody of
 * nothing. Keeps sync.mutate.no-change.
 */
function unchanged(world: World, row: Row): Decision {
  const last = world.last(row.model, row.id);
  return { ok: true, effects: [], ...(typeof last === 'bigint' ? { main: null, replayOf: last } : { main: last }) };
}

function removal(world: World, unit: Unit, row: Row, now: string): Decision {
  const refusal = permit(world, unit, row, 'delete') ?? guard(world, unit, row, null);
  if (refusal) return refusal;
  const effects = remove(world, unit, row, now);
  return { ok: true, effects, main: mainOf(effects, row) };
}

/** The entry that stands for the mutation in its answer: the last one of its own record. */
function mainOf(effects: readonly Effect[], row: Row): Effect | null {
  return effects.findLast(({ model, id }) => model === row.model && id === row.id) ?? null;
}

function rowOf(model: Model, place: { workspaceId: string | null; groupId: string }, record: RecordOf<Model>): Row {
  return {
    model,
    id: record.id,
    workspaceId: place.workspaceId,
    groupId: place.groupId,
    record,
    text: JSON.stringify(record),
  };
}
