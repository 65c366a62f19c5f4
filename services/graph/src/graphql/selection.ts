import { Kind } from 'graphql';
import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import type { Wants } from '../store/record.ts';

/*
 * What an operation selects, as far as it decides which statements are run.
 */

type Fragments = GraphQLResolveInfo['fragments'];

const operations = new WeakMap<object, Wants>();

/** The names of all fields that the operation selects anywhere. */
export function wantsOf({ operation, fragments }: GraphQLResolveInfo): Wants {
  let wants = operations.get(operation);
  if (wants === undefined) {
    const names = new Set<string>();
    collect(operation.selectionSet, fragments, { names, isDeep: true, visited: new Set() });
    operations.set(operation, (wants = { selects: (field) => names.has(field) }));
  }
  return wants;
}

const connections = new WeakMap<FieldNode, boolean>();

/** Whether a connection field selects records, and not only their number. */
export function selectsRecords({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  return fieldNodes.some((node) => {
    let selects = connections.get(node);
    if (selects === undefined) {
      const names = new Set<string>();
      if (node.selectionSet) collect(node.selectionSet, fragments, { names, isDeep: false, visited: new Set() });
      selects = names.has('edges') || names.has('nodes') || names.has('pageInfo');
      connections.set(node, selects);
    }
    return selects;
  });
}

interface Collected {
  readonly names: Set<string>;
  readonly isDeep: boolean;
  readonly visited: Set<FragmentDefinitionNode>;
}

function collect({ selections }: SelectionSetNode, fragments: Fragments, collected: Collected): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      collected.names.add(selection.name.value);
      if (collected.isDeep && selection.selectionSet) collect(selection.selectionSet, fragments, collected);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      collect(selection.selectionSet, fragments, collected);
    } else {
      const fragment = fragments[selection.name.value];
      if (fragment === undefined || collected.visited.has(fragment)) continue;
      collected.visited.add(fragment);
      collect(fragment.selectionSet, fragments, collected);
    }
  }
}
