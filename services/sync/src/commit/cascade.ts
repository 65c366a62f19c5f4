import { dependentsOf, isOf, WorkspaceMember } from '@wts/models';
import { MEMBERSHIPS_INSIDE } from '../store/extents.ts';
import type { Row } from '../store/rows.ts';
import type { DecisionState } from './decision-state.ts';
import { lockDescendants } from './descendants.ts';
import { deleteRow, moveRow, updateRow } from './effects.ts';
import { flatMapCollecting, key, within, type Relation } from './lookup.ts';
import { currentLocation } from './permissions.ts';
import type { Effect, Unit } from './unit.ts';

/**
 * Deletes a record and its descendants, children before parents, each with an entry of its own, and clears references to them.
 * Where that is more than a commit should hold, only the record is deleted, so that nothing can be attached to it any more, and a
 * sweep does the rest (`sweeps/`). Keeps sync.mutate.cascade.
 */
export function deleteWithDescendants(state: DecisionState, unit: Unit, row: Row): Effect[] {
  const [extent] = state.extents('delete', row.model, [row.id]);
  if (extent && !state.reserveCascade(extent)) {
    const userId = isOf(row, WorkspaceMember) ? row.record.userId : null;
    const actorId = unit.principal.userId;
    state.addSweep({ kind: 'delete', model: row.model, rootId: row.id, workspaceId: row.workspaceId, userId, actorId });
    return deleteRow(state, row);
  }
  const rows = lockDescendants(state, row, membershipsInside);
  const deleted = new Set(rows.map(({ model, id }) => key(model, id)));
  state.requireRelated(
    rows.flatMap((one) => clearedFields(one).map(({ model, field }) => ({ model, field, value: one.id }))),
    'write',
  );
  return flatMapCollecting(rows, (one) => {
    const references = referencesTo(state, one).filter(({ row }) => !deleted.has(key(row.model, row.id)));
    return [
      ...references.flatMap(({ row, field }) => clearReference(state, unit, row, { field, id: one.id })),
      ...deleteRow(state, one),
    ];
  });
}

/** A person who leaves a workspace leaves its teams and projects: otherwise they could still see its private projects. */
function membershipsInside(row: Row): Relation[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { workspaceId, userId: value } = row.record;
  return MEMBERSHIPS_INSIDE.map((inside) => within(workspaceId, { model: inside, field: 'userId', value }));
}

const clearedFields = ({ model }: Row) => dependentsOf(model).filter(({ onDelete }) => onDelete === 'clear');

function referencesTo(state: DecisionState, target: Row): { readonly row: Row; readonly field: string }[] {
  return clearedFields(target).flatMap(({ model, field }) =>
    state.related({ model, field, value: target.id }, 'write').map((row) => ({ row, field })),
  );
}

/**
 * Clears the reference of a record to a deleted one. A record whose parent was moved and that the sweep has not moved yet is moved
 * with it; one whose parent is deleted is left to the sweep that deletes it.
 */
export function clearReference(
  state: DecisionState,
  unit: Unit,
  before: Row,
  { field, id }: { readonly field: string; readonly id: string },
): Effect[] {
  const location = currentLocation(state, before);
  if (!location) return [];
  const held = before.record[field];
  const value = Array.isArray(held) ? held.filter((other) => other !== id) : null;
  const record = { ...before.record, [field]: value, updatedAt: state.now };
  const after: Row = { ...before, groupId: location.groupId, record, text: JSON.stringify(record) };
  return location.groupId === before.groupId
    ? updateRow(state, before, after, [field])
    : moveRow(state, unit, { before, after, changed: [field] });
}
