import { Kind } from 'graphql';
import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import { relationsOf, type Model, type Relation } from '@wts/models';
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

const followed = new WeakMap<FieldNode, readonly Relation[]>();

/** The single records that are selected in the records of a connection field, so that they are read with its page. */
export function followedOf(model: Model, { fieldNodes: [node], fragments }: GraphQLResolveInfo): readonly Relation[] {
  if (node?.selectionSet === undefined) return [];
  const known = followed.get(node);
  if (known !== undefined) return known;
  const names = namesUnder(node.selectionSet, fragments, ['nodes', 'node']);
  const relations = relationsOf(model).filter(({ name, many }) => !many && names.has(name));
  followed.set(node, relations);
  return relations;
}

/** The fields selected in `nodes`, or in `node` of `edges`. */
function namesUnder(set: SelectionSetNode, fragments: Fragments, inside: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const { name, selectionSet } of fieldsIn(set, fragments)) {
    if (selectionSet === undefined) continue;
    if (inside.includes(name.value)) collect(selectionSet, fragments, { names, isDeep: false, visited: new Set() });
    else if (name.value === 'edges') for (const one of namesUnder(selectionSet, fragments, inside)) names.add(one);
  }
  return names;
}

function fieldsIn({ selections }: SelectionSetNode, fragments: Fragments): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsIn(selection.selectionSet, fragments);
    const fragment = fragments[selection.name.value];
    return fragment === undefined ? [] : fieldsIn(fragment.selectionSet, fragments);
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
