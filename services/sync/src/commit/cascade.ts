import { dependentsOf, isOf, WorkspaceMember } from '@wts/models';
import { MEMBERSHIPS_INSIDE } from '../store/extents.ts';
import type { Row } from '../store/rows.ts';
import { change, deleteRow, move } from './effects.ts';
import { descend } from './family.ts';
import { standing } from './permit.ts';
import type { Effect, Unit } from './unit.ts';
import { forAll, key, within, type Relation, type World } from './world.ts';

/**
 * Deletes a record and what cannot be without it, parts before wholes, each as an entry of its own; what only pointed to it
 * lets go. Where that is more than a commit should hold, the record goes at once, so that nothing can be attached to it any
 * more, and the rest is swept behind it (`sweeps/`). Keeps sync.mutate.cascade.
 */
export function remove(world: World, unit: Unit, row: Row, now: string): Effect[] {
  const [extent] = world.extents('delete', row.model, [row.id]);
  if (extent && !world.carries(extent)) {
    const userId = isOf(row, WorkspaceMember) ? row.record.userId : null;
    const actorId = unit.principal.userId;
    world.sweep({ kind: 'delete', model: row.model, rootId: row.id, workspaceId: row.workspaceId, userId, actorId });
    return deleteRow(world, row);
  }
  const going = descend(world, row, membershipsInside);
  const gone = new Set(going.map(({ model, id }) => key(model, id)));
  world.expect(
    going.flatMap((one) => pointers(one).map(({ model, field }) => ({ model, field, value: one.id }))),
    'write',
  );
  return forAll(going, (one) => {
    const holders = holdersOf(world, one).filter(({ holder }) => !gone.has(key(holder.model, holder.id)));
    return [
      ...holders.flatMap(({ holder, field }) => clear(world, unit, holder, { field, id: one.id, now })),
      ...deleteRow(world, one),
    ];
  });
}

/** Who leaves a workspace leaves its teams and projects: otherwise a private project would stay open to them. */
function membershipsInside(row: Row): Relation[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { workspaceId, userId: value } = row.record;
  return MEMBERSHIPS_INSIDE.map((inside) => within(workspaceId, { model: inside, field: 'userId', value }));
}

const pointers = ({ model }: Row) => dependentsOf(model).filter(({ onDelete }) => onDelete === 'clear');

function holdersOf(world: World, target: Row): { readonly holder: Row; readonly field: string }[] {
  return pointers(target).flatMap(({ model, field }) =>
    world.related(model, field, target.id, 'write').map((holder) => ({ holder, field })),
  );
}

/**
 * A record lets go of one that it points to. One that is still to follow its whole into another group goes there with it; one
 * whose whole is gone goes as well, soon.
 */
export function clear(
  world: World,
  unit: Unit,
  before: Row,
  { field, id, now }: { readonly field: string; readonly id: string; readonly now: string },
): Effect[] {
  const place = standing(world, before);
  if (!place) return [];
  const held = before.record[field];
  const value = Array.isArray(held) ? held.filter((other) => other !== id) : null;
  const record = { ...before.record, [field]: value, updatedAt: now };
  const after: Row = { ...before, groupId: place.groupId, record, text: JSON.stringify(record) };
  return place.groupId === before.groupId
    ? change(world, before, after, [field])
    : move(world, unit, { before, after, changed: [field] }, now);
}
