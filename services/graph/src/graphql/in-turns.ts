import type { FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import { Kind } from 'graphql';
import type { RequestContext } from '../context.ts';
import { GRAPH_LIMITS } from '../limits.ts';

/**
 * The records of a list for graphql-js, which completes all lists that are there in one turn of the event loop: half a second for ten
 * thousand records with forty fields. Those of an operation that may have many records are handed out in turns of the loop, shared
 * with the operations of other people, and nothing more once the request has ended. Keeps graphql.limit.loop.
 */
export function inTurns(list: unknown, context: RequestContext, info: GraphQLResolveInfo): unknown {
  if (!Array.isArray(list) || context.charge.cost.objects < GRAPH_LIMITS.objectsAtOnceMax) return list;
  return handOut(list as readonly unknown[], context, fieldsOf(info));
}

async function* handOut(
  list: readonly unknown[],
  { turns, reads, principal, signal }: RequestContext,
  fields: number,
): AsyncGenerator {
  using _handOut = reads.handOut();
  for (const one of list) {
    const turn = turns.take(principal.userId, fields);
    if (turn !== undefined) {
      await turn;
      signal.throwIfAborted();
    }
    yield one;
  }
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
function fieldsIn(set: SelectionSetNode, fragments: GraphQLResolveInfo['fragments']): number {
  const known = counted.get(set);
  if (known !== undefined) return known;
  let fields = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment: FragmentDefinitionNode | undefined = fragments[selection.name.value];
      if (fragment !== undefined) fields += fieldsIn(fragment.selectionSet, fragments);
      continue;
    }
    if (selection.kind === Kind.FIELD) fields += 1;
    if (selection.selectionSet !== undefined)
      fields += fieldsIn(selection.selectionSet, fragments) + (selection.kind === Kind.FIELD ? FIELDS_OF_OBJECT : 0);
  }
  counted.set(set, fields);
  return fields;
}
