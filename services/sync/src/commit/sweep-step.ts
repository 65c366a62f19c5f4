import { idsIn } from '@wts/models';
import type { NewSweep, SweepRelation } from '../store/sweeps.ts';
import { clearReference, deleteWithDescendants } from './cascade.ts';
import type { DecisionState } from './decision-state.ts';
import { moveRow } from './effects.ts';
import { flatMapCollecting, type Extent } from './lookup.ts';
import { currentLocation } from './permissions.ts';
import type { Effect, Unit } from './unit.ts';

/** A step of a sweep: records that referred to its root when the sweeper found them. */
export interface SweepStep {
  readonly sweep: NewSweep;
  readonly relation: SweepRelation;
  readonly ids: readonly string[];
}

/**
 * Decides as many of these records as one commit should hold, at least one. Each is read again under lock and skipped when another
 * step or a person has changed it, so a step may run twice, or on two replicas at the same time. A record whose own cascade is too
 * large is changed alone and gets a sweep of its own.
 */
export function decideSweepStep(state: DecisionState, unit: Unit, { sweep, relation, ids }: SweepStep): Effect[] {
  const { model, field, value, becomes } = relation;
  const fitting = fittingIds(state, ids, state.extents(becomes === 'clear' ? 'own' : becomes, model, ids));
  state.requireRows(model, fitting, 'write');
  const root = becomes === 'move' ? state.row(sweep.model, sweep.rootId, 'refer') : null;
  const target = root && currentLocation(state, root);
  return flatMapCollecting(fitting, (id) => {
    const row = state.row(model, id, 'write');
    if (!row || !idsIn(row.record, field).includes(value) || isElsewhere(sweep, row.workspaceId)) return [];
    if (becomes === 'clear') return clearReference(state, unit, row, { field, id: value });
    if (becomes === 'delete') return deleteWithDescendants(state, unit, row);
    if (!target || target.groupId === row.groupId) return [];
    return moveRow(state, unit, { before: row, after: { ...row, groupId: target.groupId }, changed: [] });
  });
}

function isElsewhere({ workspaceId }: NewSweep, other: string | null): boolean {
  return workspaceId !== null && other !== workspaceId;
}

function fittingIds(state: DecisionState, ids: readonly string[], extents: readonly Extent[]): readonly string[] {
  const { recordsMax, bytesMax } = state.bounds;
  let [records, bytes] = [0, 0];
  const end = extents.findIndex((extent, index) => {
    // A record with a sweep of its own counts as one commit, however much is below it.
    records += Math.min(extent.records, recordsMax);
    bytes += Math.min(extent.bytes, bytesMax);
    return index > 0 && (records > recordsMax || bytes > bytesMax);
  });
  return end === -1 ? ids : ids.slice(0, end);
}
