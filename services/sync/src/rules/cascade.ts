import { dependentsOf, isOf, WorkspaceMember } from '@wts/models';
import { MEMBERSHIPS_INSIDE } from '../store/extents.ts';
import type { Row } from '../store/rows.ts';
import type { Decision } from '../decision/decision.ts';
import { lockDescendants } from './descendants.ts';
import { changeRow, deleteRow } from './effects.ts';
import { forEachCollecting, key, within, type Relation } from '../decision/lookup.ts';
import { currentLocation } from './visibility.ts';

/**
 * Deletes a record and its descendants, children before parents, each with an entry of its own, and clears references to them.
 * Where that is more than a commit should hold, only the record is deleted, so that nothing can be attached to it any more, and a
 * sweep does the rest (`sweeps/`). Keeps sync.mutate.cascade.
 */
export function deleteWithDescendants(decision: Decision, row: Row): void {
  const { model, id: rootId, workspaceId } = row;
  const [extent] = decision.extents('delete', model, [rootId]);
  if (extent && !decision.reserveCascade(extent)) {
    const userId = isOf(row, WorkspaceMember) ? row.record.userId : null;
    decision.changes.addSweep({ kind: 'delete', model, rootId, workspaceId, userId, actorId: decision.userId });
    return deleteRow(decision, row);
  }
  const rows = lockDescendants(decision, row, membershipsInside);
  const deleted = new Set(rows.map(({ model, id }) => key(model, id)));
  decision.reads.requireRelated(
    rows.flatMap((one) => clearedFields(one).map(({ model, field }) => ({ model, field, value: one.id }))),
    'write',
  );
  forEachCollecting(rows, (one) => {
    for (const { row, field } of referencesTo(decision, one))
      if (!deleted.has(key(row.model, row.id))) clearReference(decision, row, { field, id: one.id });
    deleteRow(decision, one);
  });
}

/** A person who leaves a workspace leaves its teams and projects: otherwise they could still see its private projects. */
function membershipsInside(row: Row): Relation[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { workspaceId, userId: value } = row.record;
  return MEMBERSHIPS_INSIDE.map((inside) => within(workspaceId, { model: inside, field: 'userId', value }));
}

const clearedFields = ({ model }: Row) => dependentsOf(model).filter(({ onDelete }) => onDelete === 'clear');

function referencesTo(decision: Decision, target: Row): { readonly row: Row; readonly field: string }[] {
  return clearedFields(target).flatMap(({ model, field }) =>
    decision.related({ model, field, value: target.id }, 'write').map((row) => ({ row, field })),
  );
}

/**
 * Clears the reference of a record to a deleted one. A record whose parent was moved and that the sweep has not moved yet is moved
 * with it; one whose parent is deleted is left to the sweep that deletes it.
 */
export function clearReference(
  decision: Decision,
  before: Row,
  { field, id }: { readonly field: string; readonly id: string },
): void {
  const location = currentLocation(decision, before);
  if (!location) return;
  const held = before.record[field];
  const value = Array.isArray(held) ? held.filter((other) => other !== id) : null;
  const record = { ...before.record, [field]: value, updatedAt: decision.now };
  const after: Row = { ...before, groupId: location.groupId, record, text: JSON.stringify(record) };
  changeRow(decision, { before, after, changed: [field] });
}
