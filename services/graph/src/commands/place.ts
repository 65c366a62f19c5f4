import { isUuid, LIMITS } from '@wts/contracts';
import type { Model, RecordOf } from '@wts/models';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ranksBetween } from '../domain/rank.ts';
import { committedStatement } from '../store/committed-changes.ts';
import { listOf, neighborStatement, RANK_FIELD, tiesStatement, type Ranked } from '../store/ranks.ts';
import type { Reads } from '../queries/reads.ts';
import { withRank, type Place, type PlacedChange } from './changes.ts';
import type { Change } from './mutate.ts';
import { refused, type Refused } from './outcome.ts';

/** What is sent for changes of which some name a place. */
interface PlacedChanges {
  /** One for each of the given changes, in their order. */
  readonly changes: readonly (Change | Refused)[];
  /** The changes of neighbors that get ranks too. */
  readonly moved: readonly Change[];
}

/**
 * Gives ranks to the changes that name a place, in their order. All of them name the same one. Those that were committed before get
 * none, because the neighbors may be others by now: sync gives them the reply of the first time.
 */
export async function placeChanges(given: readonly PlacedChange[], reads: Reads): Promise<PlacedChanges> {
  const repeatable = given.filter(({ place, isRepeatable }) => place !== null && isRepeatable);
  const committed = await committedOf(
    repeatable.map(({ change }) => change),
    reads,
  );
  const toPlace = given.filter(({ change, place }) => place !== null && !committed.has(change));
  const [first] = toPlace;
  const place = first?.place ?? null;
  if (first === undefined || place === null) return { changes: given.map(({ change }) => change), moved: [] };
  const { model, clientId, clientTxId } = first.change;
  const isOne = toPlace.every((one) => isSamePlace(one.place, place));
  const ids = toPlace.map(({ change }) => change.id.toLowerCase());
  const placed = isOne
    ? await ranksAt(place, { reads, model, ids })
    : refused('BAD_USER_INPUT', 'The items of one batch have the same place, or none');
  const orders = new Map(toPlace.map(({ change }, order) => [change, order]));
  const changes = given.map(({ change }) => {
    const order = orders.get(change);
    if (order === undefined) return change;
    return placed.ok ? withRank(change, placed.ranks[order] ?? '') : placed;
  });
  if (!placed.ok) return { changes, moved: [] };
  const moved = placed.moved.map(({ id, rank }) =>
    withRank({ model, id, action: 'UPDATE', payload: {}, clientId, clientTxId: nameOfMoved(clientTxId, id) }, rank),
  );
  return { changes, moved };
}

function isSamePlace(one: Place | null, other: Place): boolean {
  return (one?.before ?? null) === (other.before ?? null) && (one?.after ?? null) === (other.after ?? null);
}

async function committedOf(changes: readonly Change[], reads: Reads): Promise<ReadonlySet<Change>> {
  const [first] = changes;
  if (first === undefined) return new Set();
  const names = changes.map(({ clientTxId }) => clientTxId);
  const found = await reads.read((sql) => committedStatement(first.clientId, names, sql));
  const committed = new Set(found as readonly string[]);
  // A record may also be created again under its id.
  const isMade = await Promise.all(
    changes.map(
      async ({ action, model, id }) => action === 'INSERT' && isUuid(id) && (await reads.byId(model, id)) !== null,
    ),
  );
  return new Set(changes.filter(({ clientTxId }, index) => committed.has(clientTxId) || isMade[index]));
}

/** The same when the change is sent again. A hash, because the name of the change may have all characters that a name can have. */
function nameOfMoved(clientTxId: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([clientTxId, id]))
    .digest('hex');
}

/** The ranks of the records that are placed, and of neighbors that had the same rank as one another and move with them. */
interface Placed {
  readonly ok: true;
  readonly ranks: readonly string[];
  readonly moved: readonly { readonly id: string; readonly rank: string }[];
}

interface PlaceOptions {
  readonly reads: Reads;
  readonly model: Model;
  /** The records that are placed, in their order. */
  readonly ids: readonly string[];
}

/** Neighbors of one rank that get new ranks at most: with the records that are placed, they are one request to sync. */
const MOVED_MAX = LIMITS.mutateTransactionsMax - LIMITS.graphBatchMax;

/**
 * Computes ranks for a place. Records that clients made without a rank have the same one, and are in the order of their ids; to place
 * a record between two of them, those behind it get ranks too. Keeps graphql.writes.place.
 */
async function ranksAt(place: Place, options: PlaceOptions): Promise<Placed | Refused> {
  const { model, ids } = options;
  const [before, after] = [await anchorOf('before', place, options), await anchorOf('after', place, options)];
  for (const anchor of [before, after]) if (anchor && 'ok' in anchor) return anchor;
  const [next, previous] = [before, after] as (Anchor | null)[];
  if (next && ids.includes(next.id)) return refused('BAD_USER_INPUT', 'place.before is the record itself');
  if (previous && ids.includes(previous.id)) return refused('BAD_USER_INPUT', 'place.after is the record itself');
  if (next && previous && !isDeepStrictEqual(listOf(model, next.record), listOf(model, previous.record))) {
    return refused('BAD_USER_INPUT', 'place.before and place.after are not in the same list');
  }
  if (next && previous && !isBefore(previous, next)) {
    return refused('BAD_USER_INPUT', 'place.after does not come before place.before');
  }
  if (next && previous && previous.rank < next.rank) {
    return spread({ low: previous.rank, high: next.rank, ties: [] }, ids.length);
  }
  if (next) return spread(await gapBefore(next, options), ids.length);
  if (previous) return spread(await gapAfter(previous, options), ids.length);
  return refused('BAD_USER_INPUT', 'place must name a record: before, after or both');
}

/** A record that is named as a neighbor. */
interface Anchor extends Ranked {
  readonly id: string;
}

/** Records of one rank are in the order of their ids. */
function isBefore(one: Anchor, other: Anchor): boolean {
  return one.rank === other.rank ? one.id < other.id : one.rank < other.rank;
}

async function anchorOf(
  side: 'before' | 'after',
  place: Place,
  { model, ids, reads }: PlaceOptions,
): Promise<Anchor | Refused | null> {
  const id = place[side]?.toLowerCase();
  if (id === undefined) return null;
  const record = isUuid(id) ? await reads.byId(model, id) : null;
  if (!record) return refused('NOT_FOUND', `place.${side}: ${model.name} not found`);
  const rank = record[RANK_FIELD];
  return { id, model, record: record as RecordOf<Model>, rank: typeof rank === 'string' ? rank : '', without: ids };
}

/** Ranks that are free, and the records of the lower rank that get ranks behind those that are placed. */
interface Gap {
  readonly low: string;
  readonly high: string | null;
  readonly ties: readonly string[];
}

async function gapBefore(anchor: Anchor, options: PlaceOptions): Promise<Gap | null> {
  const tied = await tiesOf(anchor, options);
  const isFirst = !tied.some((id) => id < anchor.id);
  const low = isFirst && anchor.rank !== '' ? await neighborOf('previous', anchor, options) : null;
  if (isFirst && anchor.rank !== '') return { low: low ?? '', high: anchor.rank, ties: [] };
  const ties = [anchor.id, ...tied.filter((id) => id > anchor.id)];
  if (ties.length > MOVED_MAX) return null;
  return { low: anchor.rank, high: await neighborOf('next', anchor, options), ties };
}

async function gapAfter(anchor: Anchor, options: PlaceOptions): Promise<Gap> {
  const behind = (await tiesOf(anchor, options)).filter((id) => id > anchor.id);
  // Behind so many records of one rank there is still a place after the record: behind all of them.
  const ties = behind.length > MOVED_MAX ? [] : behind;
  return { low: anchor.rank, high: await neighborOf('next', anchor, options), ties };
}

function spread(gap: Gap | null, count: number): Placed | Refused {
  const ranks = gap && ranksBetween(gap.low, gap.high, count + gap.ties.length);
  if (!gap || !ranks) {
    return refused(
      'CONFLICT',
      'There is no rank at this place: give the records around it other values of sortOrder first',
    );
  }
  return {
    ok: true,
    ranks: ranks.slice(0, count),
    moved: gap.ties.map((id, index) => ({ id, rank: ranks[count + index] ?? '' })),
  };
}

async function tiesOf(anchor: Ranked, { reads }: PlaceOptions): Promise<readonly string[]> {
  return (await reads.read((sql) => tiesStatement(anchor, sql))) as readonly string[];
}

async function neighborOf(side: 'next' | 'previous', anchor: Ranked, { reads }: PlaceOptions): Promise<string | null> {
  return (await reads.read((sql) => neighborStatement(side, anchor, sql))) as string | null;
}
