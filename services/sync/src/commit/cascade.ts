import { dependentsOf, modelNamed } from '@wts/models';
import { MEMBERSHIPS_INSIDE } from '../store/extents.ts';
import type { Row } from '../store/rows.ts';
import { change, depart } from './effects.ts';
import { descend } from './family.ts';
import type { Effect } from './unit.ts';
import { forAll, key, within, type Relation, type World } from './world.ts';

const WorkspaceMember = modelNamed('WorkspaceMember');

/**
 * Deletes a record and what cannot be without it, parts before wholes, each as an entry of its own; what only pointed to it
 * lets go. Where that is more than a commit should hold, the record goes at once, so that nothing can be attached to it any
 * more, and the rest is swept behind it (`sweeps/`). Keeps sync.mutate.cascade.
 */
export function remove(world: World, row: Row, actorId: string, now: string): Effect[] {
  const [extent] = world.extents('delete', row.model, [row.id]);
  if (extent && !world.carries(extent)) {
    const userId = row.model === WorkspaceMember ? (row.record['userId'] as string) : null;
    world.sweep({ kind: 'delete', model: row.model, rootId: row.id, workspaceId: row.workspaceId, userId, actorId });
    return depart(world, row);
  }
  const going = descend(world, row, membershipsInside);
  const gone = new Set(going.map(({ model, id }) => key(model, id)));
  world.expect(
    going.flatMap((one) => pointers(one).map(({ model, field }) => ({ model, field, value: one.id }))),
    'write',
  );
  return forAll(going, (one) => [...letGo(world, one, gone, now), ...depart(world, one)]);
}

/** Who leaves a workspace leaves its teams and projects: otherwise a private project would stay open to them. */
function membershipsInside({ model, record, workspaceId }: Row): Relation[] {
  if (model !== WorkspaceMember) return [];
  const value = record['userId'] as string;
  return MEMBERSHIPS_INSIDE.map((inside) => within(workspaceId ?? '', { model: inside, field: 'userId', value }));
}

const pointers = ({ model }: Row) => dependentsOf(model).filter(({ onDelete }) => onDelete === 'clear');

function letGo(world: World, target: Row, gone: ReadonlySet<string>, now: string): Effect[] {
  const effects: Effect[] = [];
  for (const { model, field } of pointers(target)) {
    for (const holder of world.related(model, field, target.id, 'write')) {
      if (!gone.has(key(holder.model, holder.id))) effects.push(...clear(world, holder, field, target.id, now));
    }
  }
  return effects;
}

/** A record lets go of one that it points to. */
export function clear(world: World, holder: Row, field: string, id: string, now: string): Effect[] {
  const held = holder.record[field];
  const value = Array.isArray(held) ? held.filter((other) => other !== id) : null;
  const record = { ...holder.record, [field]: value, updatedAt: now };
  return change(world, holder, { ...holder, record, text: JSON.stringify(record) }, [field]);
}
