import type { Model } from '@wts/models';
import { WINDOW_MAX, type Ranked } from '../store/list-windows.ts';

/** An ordered list as a person sees it: of a parent, or of a workspace. */
export interface ListName {
  readonly model: Model;
  readonly workspaceId: string;
  readonly parentId: string | null;
  readonly userId: string;
}

/** A part of a list without holes, in its order. */
export interface ListWindow {
  readonly items: readonly Ranked[];
  /** Nothing comes before it. */
  readonly isFirst: boolean;
  /** Nothing comes after it. */
  readonly isLast: boolean;
  /** The lowest rank that is greater than that of the record in its middle; null: none is. */
  readonly greater: string | null;
}

/** Records of one rank are in the order of their ids. */
export function compareRanked(one: Ranked, other: Ranked): number {
  if (one.rank !== other.rank) return one.rank < other.rank ? -1 : 1;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

export function listKey({ model, workspaceId, parentId, userId }: ListName): string {
  return `${model.name} ${workspaceId} ${parentId} ${userId}`;
}

export function isInWindow({ items, isFirst, isLast }: ListWindow, place: Ranked): boolean {
  const [first, last] = [items[0], items.at(-1)];
  return (
    (isFirst || (first !== undefined && compareRanked(first, place) <= 0)) &&
    (isLast || (last !== undefined && compareRanked(place, last) <= 0))
  );
}

/** A window from the rows that were read around a place. */
export function windowOf(rows: readonly (Ranked & { readonly side: 'after' | 'before' })[], at: Ranked): ListWindow {
  const sorted = rows.toSorted(compareRanked);
  const before = sorted.filter(({ side }) => side === 'before');
  const after = sorted.filter(({ side }) => side === 'after');
  // Those that come later were read beside others that were not.
  const items = [...before.slice(-WINDOW_MAX), ...after.slice(0, WINDOW_MAX)].map(({ id, rank }) => ({ id, rank }));
  const greater = after.find(({ rank }) => rank > at.rank)?.rank ?? null;
  return { items, isFirst: before.length < WINDOW_MAX, isLast: after.length < WINDOW_MAX, greater };
}
