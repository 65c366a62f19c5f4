import { idsIn } from '@wts/models';
import type { NewSweep, SweepRelation } from '../store/sweeps.ts';
import { clear, remove } from './cascade.ts';
import { move } from './effects.ts';
import { standing } from './permit.ts';
import type { Effect, Unit } from './unit.ts';
import { forAll, type Extent, type World } from './world.ts';

/** A step of a sweep: records that pointed to its root when they were looked up. */
export interface SweepStep {
  readonly sweep: NewSweep;
  readonly relation: SweepRelation;
  readonly ids: readonly string[];
}

/**
 * Takes as many of these records as one commit should hold, one at least. Each is judged again, as it is under lock: those that
 * another step or a person has taken are passed over, so a step may be made twice, or by two replicas at once. One that is
 * itself too much goes alone, and leaves a sweep of its own.
 */
export function takeStep(world: World, unit: Unit, { sweep, relation, ids }: SweepStep, now: string): Effect[] {
  const { model, field, value, becomes } = relation;
  const taken = fitting(world, ids, world.extents(becomes === 'clear' ? 'own' : becomes, model, ids));
  world.expectRows(model, taken, 'write');
  const root = becomes === 'move' ? world.row(sweep.model, sweep.rootId, 'refer') : null;
  const target = root && standing(world, root);
  return forAll(taken, (id) => {
    const row = world.row(model, id, 'write');
    if (!row || !idsIn(row.record, field).includes(value) || isElsewhere(sweep, row.workspaceId)) return [];
    if (becomes === 'clear') return clear(world, unit, row, { field, id: value, now });
    if (becomes === 'delete') return remove(world, unit, row, now);
    if (!target || target.groupId === row.groupId) return [];
    return move(world, unit, { before: row, after: { ...row, groupId: target.groupId }, changed: [] }, now);
  });
}

function isElsewhere({ workspaceId }: NewSweep, other: string | null): boolean {
  return workspaceId !== null && other !== workspaceId;
}

function fitting(world: World, ids: readonly string[], extents: readonly Extent[]): readonly string[] {
  const { recordsMax, bytesMax } = world.bounds;
  let [records, bytes] = [0, 0];
  const end = extents.findIndex((extent, index) => {
    // One that goes alone is one record, whatever is below it.
    records += Math.min(extent.records, recordsMax);
    bytes += Math.min(extent.bytes, bytesMax);
    return index > 0 && (records > recordsMax || bytes > bytesMax);
  });
  return end === -1 ? ids : ids.slice(0, end);
}
