import { LIMITS } from '@wts/contracts';
import { dependentsOf } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { TOO_MANY, TooMuch } from './need.ts';
import { key, type Relation, type World } from './world.ts';

/**
 * A record and all that cannot be without it in its workspace, parts before wholes, itself last. Every row is locked, so
 * nothing new can be attached meanwhile. It is read level by level, a level in one round however many records it has.
 */
export function descend(world: World, root: Row, more: (row: Row) => readonly Relation[] = () => []): Row[] {
  const relations = (row: Row): Relation[] => [
    ...dependentsOf(row.model).flatMap(({ model, field, onDelete }) =>
      onDelete === 'delete' ? [{ model, field, value: row.id }] : [],
    ),
    ...more(row),
  ];
  const parts = new Map<Row, readonly Row[]>();
  const found = new Map([[key(root.model, root.id), root]]);
  for (let level = [root]; level.length > 0;) {
    world.expect(level.flatMap(relations), 'write');
    const next: Row[] = [];
    for (const row of level) {
      const own: Row[] = [];
      for (const part of relations(row).flatMap((relation) => world.relatedBy(relation, 'write'))) {
        if (part.workspaceId !== row.workspaceId) continue;
        const name = key(part.model, part.id);
        const known = found.get(name);
        own.push(known ?? part);
        if (known) continue;
        found.set(name, part);
        next.push(part);
      }
      parts.set(row, own);
    }
    if (found.size > LIMITS.cascadeActionsMax) throw new TooMuch(TOO_MANY);
    level = next;
  }
  return partsFirst(root, parts);
}

/** Without recursion: answers to answers may be thousands of levels deep. */
function partsFirst(root: Row, parts: ReadonlyMap<Row, readonly Row[]>): Row[] {
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
    for (const part of parts.get(row) ?? []) if (!entered.has(part)) path.push(part);
  }
  return [...order];
}
