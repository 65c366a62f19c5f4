import { dependentsOf } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Decision } from '../decision/decision.ts';
import { key, type Relation } from '../decision/lookup.ts';
import { ChangeTooLarge, TOO_MANY_RECORDS } from '../decision/refusal.ts';
import { SYNC_LIMITS } from '../limits.ts';

/**
 * Locks a record and its descendants: all records that are deleted with it and are in its workspace. Returns children before
 * parents, the record itself last. Because every row is locked, no transaction can attach another one meanwhile. The records are
 * read level by level, each level in one round.
 */
export function lockDescendants(
  decision: Decision,
  root: Row,
  more: (row: Row) => readonly Relation[] = () => [],
): Row[] {
  const relations = (row: Row): Relation[] => [
    ...dependentsOf(row.model).flatMap(({ model, field, onDelete }) =>
      onDelete === 'delete' ? [{ model, field, value: row.id }] : [],
    ),
    ...more(row),
  ];
  const children = new Map<Row, readonly Row[]>();
  const found = new Map([[key(root.model, root.id), root]]);
  for (let level = [root]; level.length > 0;) {
    decision.reads.requireRelated(level.flatMap(relations), 'write');
    const next: Row[] = [];
    for (const row of level) {
      const own: Row[] = [];
      for (const child of relations(row).flatMap((relation) => decision.related(relation, 'write'))) {
        if (child.workspaceId !== row.workspaceId) continue;
        const name = key(child.model, child.id);
        const seen = found.get(name);
        own.push(seen ?? child);
        if (seen) continue;
        found.set(name, child);
        next.push(child);
      }
      children.set(row, own);
    }
    if (found.size > SYNC_LIMITS.unitEntriesMax) throw new ChangeTooLarge(TOO_MANY_RECORDS);
    level = next;
  }
  return childrenFirst(root, children);
}

/** Without recursion, because replies may be nested thousands of levels deep. */
function childrenFirst(root: Row, children: ReadonlyMap<Row, readonly Row[]>): Row[] {
  const order = new Set<Row>();
  const entered = new Set<Row>();
  const path = [root];
  for (let row = path.at(-1); row; row = path.at(-1)) {
    if (entered.has(row)) {
      order.add(row);
      path.pop();
      continue;
    }
    entered.add(row);
    for (const child of children.get(row) ?? []) if (!entered.has(child)) path.push(child);
  }
  return [...order];
}
