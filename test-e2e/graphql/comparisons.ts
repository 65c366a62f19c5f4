import type { Place } from './schema-walk.ts';

/** Values of a comparison. */
export interface Named {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
}

/** Comparisons by the type of their comparator. */
const COMPARISONS: Readonly<Record<string, readonly (readonly [kind: string, value: (values: Named) => unknown])[]>> = {
  IDComparator: [
    ['in', ({ ids }) => ({ in: ids })],
    ['nin', ({ ids }) => ({ nin: ids })],
  ],
  IDListComparator: [['hasAny', ({ ids }) => ({ hasAny: ids })]],
  StringComparator: [
    ['in', ({ texts }) => ({ in: texts })],
    ['contains', ({ texts }) => ({ contains: texts[0] })],
    ['startsWith', ({ texts }) => ({ startsWith: texts[0] })],
  ],
};

/**
 * Through a relation one that finds a value, because the others differ from it in the comparison alone; and of lists whose records all or
 * none match only by id, because the compared field is the same as for some.
 */
export function comparisonsOf(comparator: string, path: Place): (typeof COMPARISONS)[string] {
  const all = COMPARISONS[comparator] ?? [];
  if (path.length === 1) return all;
  if (isOfAll(path) && path.at(-1) !== 'id') return [];
  return all.slice(0, 1);
}

/** True for a filter of all records of a list, or of none. */
export function isOfAll(path: Place): boolean {
  return path.includes('every') || path.includes('none');
}
