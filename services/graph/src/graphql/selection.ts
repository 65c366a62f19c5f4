import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { Wants } from '../store/record.ts';
import { countsOf, fieldsOf } from './selections.ts';

/** Which long texts are read: those that the operation selects anywhere. */
export function wantsOf({ operation, fragments }: GraphQLResolveInfo): Wants {
  const { names } = countsOf(operation, fragments);
  return { selects: (field) => names.has(field) };
}

const PAGE: ReadonlySet<string> = new Set(['edges', 'nodes', 'pageInfo']);

const connections = new WeakMap<FieldNode, boolean>();

/** Whether a connection field selects records, and not only their number. */
export function selectsRecords({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  return fieldNodes.some((node) =>
    connections.getOrInsertComputed(node, ({ selectionSet }) =>
      fieldsOf(selectionSet === undefined ? [] : [selectionSet], fragments).some(({ node: { name } }) =>
        PAGE.has(name.value),
      ),
    ),
  );
}
