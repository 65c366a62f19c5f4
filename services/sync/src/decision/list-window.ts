import type { Model } from '@wts/models';
import { UNRANKED_MAX, WINDOW_MAX, type Ranked } from '../store/list-windows.ts';

/** An ordered list as a person sees it: of a parent, or of a workspace. */
export interface ListName {
  readonly model: Model;
  readonly workspaceId: string;
  readonly parentId: string | null;
  readonly userId: string;
}

/** Stands for the records without a rank where they are too many to be read. */
export const MANY_UNRANKED: Ranked = { id: '', rank: '' };

/** A part of a list without holes, in its order; `MANY_UNRANKED` is the first of its records where it has that. */
export interface ListWindow {
  readonly items: readonly Ranked[];
  /** Nothing comes before it. */
  readonly isFirst: boolean;
  /** Nothing comes after it. */
  readonly isLast: boolean;
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
export function windowOf(rows: readonly Ranked[], at: Ranked): ListWindow {
  const unranked = rows.filter(({ rank }) => rank === '');
  const ranked = rows.filter(({ rank }) => rank !== '');
  const before = ranked.filter((one) => compareRanked(one, at) < 0).length;
  const first = unranked.length > UNRANKED_MAX ? [MANY_UNRANKED] : unranked;
  return {
    items: [...first, ...ranked].toSorted(compareRanked),
    isFirst: before < WINDOW_MAX,
    isLast: ranked.length - before < WINDOW_MAX,
  };
}
