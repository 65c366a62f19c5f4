import { idsIn } from '@wts/models';
import { clearReference, deleteWithDescendants } from './cascade.ts';
import type { Decision } from '../decision/decision.ts';
import { changeRow } from './effects.ts';
import { forEachCollecting, type Extent } from '../decision/lookup.ts';
import type { SweepStep } from '../decision/unit.ts';
import { currentLocation } from './visibility.ts';

/**
 * Decides as many of these records as one commit should hold, at least one. Each is read again under lock and skipped when another
 * step or a person has changed it, so a step may run twice, or on two replicas at the same time. A record whose own cascade is too
 * large is changed alone and gets a sweep of its own.
 */
export function decideSweepStep(decision: Decision, { sweep, relation, ids }: SweepStep): void {
  const { model, field, value, becomes } = relation;
  const fitting = fittingIds(decision, ids, decision.extents(becomes === 'clear' ? 'own' : becomes, model, ids));
  decision.reads.requireRows(model, fitting, 'write');
  const root = becomes === 'move' ? decision.row(sweep.model, sweep.rootId, 'refer') : null;
  const target = root && currentLocation(decision, root);
  forEachCollecting(fitting, (id) => {
    const row = decision.row(model, id, 'write');
    const isElsewhere = sweep.workspaceId !== null && row?.workspaceId !== sweep.workspaceId;
    if (!row || isElsewhere || !idsIn(row.record, field).includes(value)) return;
    if (becomes === 'clear') clearReference(decision, row, { field, id: value });
    else if (becomes === 'delete') deleteWithDescendants(decision, row);
    else if (target && target.groupId !== row.groupId)
      changeRow(decision, { before: row, after: { ...row, groupId: target.groupId }, changed: [] });
  });
}

/** The ids whose cascades fit into one commit together, at least one. */
export function fittingIds(
  { bounds }: Decision,
  ids: readonly string[],
  extents: readonly Extent[],
): readonly string[] {
  const { recordsMax, bytesMax } = bounds;
  let [records, bytes] = [0, 0];
  const end = extents.findIndex((extent, index) => {
    // A record with a sweep of its own counts as one commit, however much is below it.
    records += Math.min(extent.records, recordsMax);
    bytes += Math.min(extent.bytes, bytesMax);
    return index > 0 && (records > recordsMax || bytes > bytesMax);
  });
  return end === -1 ? ids : ids.slice(0, end);
}
