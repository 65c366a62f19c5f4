import { deleteWithDescendants } from './cascade.ts';
import type { Decision } from '../decision/decision.ts';
import { forEachCollecting } from '../decision/lookup.ts';
import { fittingIds } from './sweep-step.ts';
import type { PurgeStep } from '../decision/unit.ts';

/**
 * Deletes as many of these records as one commit should hold, at least one, each with everything in it. Each is read again under lock:
 * one that was restored, or archived again, stays. So a restore and a purge never both succeed, and a step may run twice. Keeps
 * trash.purge.restored.
 */
export function decidePurgeStep(decision: Decision, { model, archivedAt }: PurgeStep): void {
  const ids = [...archivedAt.keys()];
  const fitting = fittingIds(decision, ids, decision.extents('delete', model, ids));
  decision.reads.requireRows(model, fitting, 'write');
  forEachCollecting(fitting, (id) => {
    const row = decision.row(model, id, 'write');
    if (row && (row.record.archivedAt ?? null) === archivedAt.get(id)) deleteWithDescendants(decision, row);
  });
}
