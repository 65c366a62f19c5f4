import { RANK_FIELD } from '@wts/models';
import { isPlace, type PlaceInput } from './changes.ts';
import type { Change, Outcome } from './mutate.ts';

type Send = (changes: readonly Change[]) => Promise<readonly Outcome[]>;

/** Sends the changes of a batch, at once or in parts. */
export type SendInOrder = (changes: readonly Change[], send: Send) => Promise<readonly Outcome[]>;

/*
 * Records of a batch that all go after the same record go there in their order, also when some of them are refused. Keeps
 * graphql.writes.place.
 */

/** Updates: the last first, each directly after that record, so none depends on another one. */
export async function sendUpdates(changes: readonly Change[], send: Send): Promise<readonly Outcome[]> {
  const isAfter = changes.some((change) => (placeOf(change)?.after ?? null) !== null);
  return isAfter ? (await send(changes.toReversed())).toReversed() : send(changes);
}

/**
 * New records: each after the one before it, because numbers of tasks follow the order. Those after one that is refused have no place
 * then: they are sent again, the last first, after the last one that was made.
 */
export async function sendCreates(changes: readonly Change[], send: Send): Promise<readonly Outcome[]> {
  const outcomes = await send(changes);
  const again = new Map(withoutRefused(changes, outcomes).toReversed());
  if (again.size === 0) return outcomes;
  const later = await send([...again.values()]);
  const byIndex = new Map([...again.keys()].map((index, position) => [index, later[position]]));
  return outcomes.map((outcome, index) => byIndex.get(index) ?? outcome);
}

/** The refused changes whose place is after another refused one, by their index, with the place of that one. */
function withoutRefused(changes: readonly Change[], outcomes: readonly Outcome[]): (readonly [number, Change])[] {
  const found: (readonly [number, Change])[] = [];
  /** The change before, if it was refused. */
  let refusedId: string | null = null;
  let refusedPlace: PlaceInput | null = null;
  for (const [index, change] of changes.entries()) {
    const own = placeOf(change);
    const place: PlaceInput | null = own && refusedPlace && refusedId === own.after ? refusedPlace : own;
    const isRefused = outcomes[index]?.ok === false;
    if (isRefused && place !== own)
      found.push([index, { ...change, payload: { ...change.payload, [RANK_FIELD]: place } }]);
    [refusedId, refusedPlace] = isRefused ? [change.id, place] : [null, null];
  }
  return found;
}

function placeOf({ payload }: Change): PlaceInput | null {
  const place = payload[RANK_FIELD];
  return isPlace(place) ? place : null;
}
