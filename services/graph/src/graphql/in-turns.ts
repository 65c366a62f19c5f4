import type { GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import type { RequestContext } from './request-context.ts';
import { selectedOf, type Fragments } from './selections.ts';
import { GRAPH_LIMITS } from '../limits.ts';

/**
 * The records of a list for graphql-js, which completes all lists that are there in one turn of the event loop: half a second for ten
 * thousand records with forty fields. Those of an operation that may have many records are handed out in turns of the loop, shared
 * with the operations of other people, and nothing more once the request has ended. Keeps graphql.limit.loop.
 *
 * A record that waits is a promise, because graphql-js handles the failures of a list of promises together, and not those of an
 * asynchronous iterator before its end: one record that fails meanwhile would end the process.
 */
export function inTurns(list: unknown, context: RequestContext, info: GraphQLResolveInfo): unknown {
  if (!Array.isArray(list) || context.charge.cost.objects < GRAPH_LIMITS.objectsAtOnceMax) return list;
  return handOut(list as readonly unknown[], context, fieldsOf(info));
}

function handOut(list: readonly unknown[], context: RequestContext, fields: number): readonly unknown[] {
  const pieceLength = Math.max(1, Math.floor(PIECE_FIELDS / fields));
  const handedOut: unknown[] = [];
  const handingOut = context.reads.handOut();
  let reached: Promise<void> | undefined;
  for (let from = 0; from < list.length; from += pieceLength) {
    const piece = list.slice(from, from + pieceLength);
    reached = turnAfter(reached, context, piece.length * fields);
    const turn = reached;
    for (const one of piece) handedOut.push(turn === undefined ? one : afterTurn(turn, one));
  }
  // Also without a wait after the other lists of this level, which are there at the same time, have begun.
  const end = (): void => handingOut[Symbol.dispose]();
  (reached ?? Promise.resolve()).then(end, end);
  return handedOut;
}

/**
 * The record as a promise whose failure, and that of the record itself, is part of the answer and ends nothing else: graphql-js
 * reads neither when the operation has ended meanwhile.
 */
function afterTurn(turn: Promise<void>, one: unknown): Promise<unknown> {
  if (one instanceof Promise) one.catch(ignore);
  const record = turn.then(() => one);
  record.catch(ignore);
  return record;
}

function ignore(): void {}

/** So much is handed out at a time. */
const PIECE_FIELDS = GRAPH_LIMITS.turnFields / 10;

/** The turn of the next piece; undefined when the pieces before it did not wait and it need not either. */
function turnAfter(
  before: Promise<void> | undefined,
  { turns, principal, signal }: RequestContext,
  size: number,
): Promise<void> | undefined {
  if (before === undefined) return turns.take(principal.userId, size)?.then(() => signal.throwIfAborted());
  return before.then(async () => {
    await turns.take(principal.userId, size);
    signal.throwIfAborted();
  });
}

function fieldsOf({ fieldNodes, fragments }: GraphQLResolveInfo): number {
  return fieldNodes.reduce(
    (sum, { selectionSet }) => sum + (selectionSet ? fieldsIn(selectionSet, fragments) : 0),
    FIELDS_OF_ITEM,
  );
}

/** A record takes as long as so many of its fields, and handing one out as so many more. */
const FIELDS_OF_OBJECT = 4;
const FIELDS_OF_ITEM = 10;

const counted = new WeakMap<SelectionSetNode, number>();

/** The fields of a selection and of all below it. Each selection set is counted once, however often its fragment is used. */
function fieldsIn(set: SelectionSetNode, fragments: Fragments): number {
  return counted.getOrInsertComputed(set, () => {
    let fields = 0;
    for (const part of selectedOf(set).parts) {
      const below = typeof part === 'string' ? fragments[part]?.selectionSet : part.node.selectionSet;
      if (typeof part !== 'string') fields += below === undefined ? 1 : 1 + FIELDS_OF_OBJECT;
      if (below !== undefined) fields += fieldsIn(below, fragments);
    }
    return fields;
  });
}
