import {
  listFieldOf,
  listParentOf,
  RANK_FIELD,
  rankBetween,
  ranksBetween,
  targetOf,
  Workspace,
  type Model,
  type Placement,
  type RecordOf,
} from '@wts/models';
import { SYNC_LIMITS } from '../limits.ts';
import type { Ranked } from '../store/list-windows.ts';
import type { Row } from '../store/rows.ts';
import type { Decision } from '../decision/decision.ts';
import { changeValues } from './effects.ts';
import { compareRanked, isInWindow, MANY_UNRANKED, type ListName } from '../decision/list-window.ts';
import { mayChange } from './permissions.ts';
import { notFound, Refused } from '../decision/refusal.ts';
import { mayName } from './visibility.ts';

/*
 * A record is placed after or before another one of its list. Its rank is computed here, while the list is locked: the row of its
 * parent, or of the workspace. So two records that are placed at the same spot at the same time get different ranks, in the order of
 * their commits. Keeps sync.mutate.placement.
 *
 * Records that clients made without a rank have the same one, and a rank between two others may be longer than a rank may be. Then
 * the records behind the place get new ranks too, as few as possible, and their order stays. They are changed as by the caller: where
 * those are too many, or the caller may not change one of them, a place after a record is behind all records of its rank. So it is
 * in a list with so many records without a rank that they are not read; before one of those there is no place.
 */

/** Locks the list of a record that is placed, before anything else locks the parent more weakly. */
export function lockList(decision: Decision, model: Model, record: RecordOf<Model>): void {
  const parentId = listParentOf(model, record);
  const field = listFieldOf(model);
  if (field !== null && parentId !== null) decision.row(targetOf(model, field), parentId, 'write');
  else if (typeof record['workspaceId'] === 'string') decision.row(Workspace, record['workspaceId'], 'write');
}

/** A place in a list: the rank of the record that is placed, and the records behind it with their new ranks. */
export interface Place {
  readonly rank: string;
  readonly behind: readonly { readonly row: Row; readonly rank: string }[];
}

/** `before`: the record as it is, which keeps its rank where that is right already; null for a new one. */
export function placeOf(decision: Decision, row: Row, placement: Placement, before: Row | null): Place {
  const anchors = anchorsOf(decision, row, placement);
  const { previous, next, anchor } = anchors;
  const { items, isLast } = aroundOf(decision, row, anchor);
  const low = previous ?? items.findLast((item) => compareRanked(item, anchor) < 0) ?? null;
  const behind = items.filter((item) => low === null || compareRanked(item, low) > 0);
  if (next?.rank !== '' || behind.some(({ id }) => id === next.id)) {
    if (before && isSameList(before, row) && isBetween(rankOf(before), low, behind[0]))
      return { rank: rankOf(before), behind: [] };
    const gap = findGap(low, behind, isLast);
    const moved = gap && rowsToMove(decision, row.model, gap.moved);
    if (moved) return { rank: gap.rank, behind: moved };
  }
  const rank = rankBehindEqual(anchors, behind);
  if (rank !== null) return { rank, behind: [] };
  throw new Refused(
    'conflict',
    `There is no rank at this place: give the records around it other values of ${RANK_FIELD}`,
  );
}

interface Anchors {
  readonly previous: Ranked | null;
  readonly next: Ranked | null;
  /** One of the two. */
  readonly anchor: Ranked;
}

/** The records that a placement names. */
function anchorsOf(decision: Decision, row: Row, placement: Placement): Anchors {
  const previous = anchorOf(decision, row, { side: 'after', id: placement.after });
  const next = anchorOf(decision, row, { side: 'before', id: placement.before });
  if (previous && next && compareRanked(previous, next) >= 0)
    throw new Refused('validation_failed', `${RANK_FIELD}.after does not come before ${RANK_FIELD}.before`);
  const anchor = previous ?? next;
  if (!anchor) throw new Error('A placement names no record');
  return { previous, next, anchor };
}

/** A rank behind all records of the rank of the previous one; null where there is none, or where the next one has the same rank. */
function rankBehindEqual({ previous, next }: Anchors, behind: readonly Ranked[]): string | null {
  if (previous === null || previous.rank === next?.rank) return null;
  const greater = behind.find(({ rank }) => rank > previous.rank) ?? next;
  return rankBetween(previous.rank, greater?.rank ?? null);
}

/** Gives the records behind a place their new ranks. */
export function moveBehind(decision: Decision, { behind }: Place): void {
  for (const { row, rank } of behind) changeValues(decision, row, { [RANK_FIELD]: rank });
}

/** The record that a placement names, which is locked and in the list of the row. */
function anchorOf(
  decision: Decision,
  row: Row,
  { side, id }: { readonly side: 'after' | 'before'; readonly id: string | null },
): Ranked | null {
  if (id === null) return null;
  const { model } = row;
  const name = `${RANK_FIELD}.${side}`;
  if (id === row.id) throw new Refused('validation_failed', `${name} is the record itself`);
  const anchor = decision.row(model, id, 'write');
  if (!anchor || !mayName(decision, model, anchor)) throw notFound(name, model.name);
  if (!isSameList(anchor, row))
    throw new Refused('validation_failed', `${name}: this ${model.name} is in another list`);
  return { id, rank: rankOf(anchor) };
}

function isSameList(one: Row, other: Row): boolean {
  return (
    one.workspaceId === other.workspaceId &&
    listParentOf(one.model, one.record) === listParentOf(other.model, other.record)
  );
}

function rankOf({ record }: Row): string {
  const rank = record[RANK_FIELD];
  return typeof rank === 'string' ? rank : '';
}

function isBetween(rank: string, low: Ranked | null, high: Ranked | undefined): boolean {
  return (low === null || low.rank < rank) && (high === undefined || rank < high.rank);
}

/** The records around another one as the caller sees them, in their order and without the one that is placed. */
function aroundOf(
  decision: Decision,
  row: Row,
  at: Ranked,
): { readonly items: readonly Ranked[]; readonly isLast: boolean } {
  const { model, workspaceId } = row;
  const list: ListName = {
    model,
    workspaceId: workspaceId ?? '',
    parentId: listParentOf(model, row.record),
    userId: decision.userId,
  };
  const window = decision.reads.listWindow(list, at);
  const hasMany = window.items.includes(MANY_UNRANKED);
  const changed = decision.changes.rowsOf(model);
  const items = window.items.filter(({ id }) => id !== row.id && !changed?.has(id));
  for (const other of changed?.values() ?? []) {
    if (other === null || other.id === row.id || !isSameList(other, row)) continue;
    const ranked = { id: other.id, rank: rankOf(other) };
    if (other.groupId !== row.groupId && !mayName(decision, model, other)) continue;
    // Of many without a rank, one that is known would move and the others not.
    if (isInWindow(window, ranked) && !(hasMany && ranked.rank === '')) items.push(ranked);
  }
  return { items: items.toSorted(compareRanked), isLast: window.isLast };
}

interface Gap {
  readonly rank: string;
  /** The records behind the place that get new ranks. */
  readonly moved: readonly Ranked[];
}

/** Records that one placement may move. */
const MOVED_MAX = SYNC_LIMITS.placementMovedMax;

function findGap(low: Ranked | null, behind: readonly Ranked[], isLast: boolean): Gap | null {
  for (let count = 0; count <= Math.min(MOVED_MAX, behind.length); count += 1) {
    const high = behind[count]?.rank;
    if (high === undefined && !isLast) return null;
    const ranks = ranksBetween(low?.rank ?? '', high ?? null, count + 1);
    const [rank] = ranks ?? [];
    if (!ranks || rank === undefined) continue;
    return { rank, moved: behind.slice(0, count).map(({ id }, index) => ({ id, rank: ranks[index + 1] ?? '' })) };
  }
  return null;
}

/** Null where the caller may not change one of them. Keeps sync.mutate.placement. */
function rowsToMove(decision: Decision, model: Model, moved: readonly Ranked[]): Place['behind'] | null {
  const unread = moved.filter(({ id }) => decision.changes.row(model, id) === undefined).map(({ id }) => id);
  decision.reads.requireRows(model, unread, 'write');
  const rows = moved.flatMap(({ id, rank }) => {
    const row = decision.row(model, id, 'write');
    return row ? [{ row, rank }] : [];
  });
  return rows.every(({ row }) => mayChange(decision, row)) ? rows : null;
}
