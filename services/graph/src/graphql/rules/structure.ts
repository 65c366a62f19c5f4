import { LIMITS } from '@wts/contracts';
import { Kind } from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLError,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';
import { graphError } from '../../domain/errors.ts';
import { SINGLE_CHANGES } from '../inputs/operations.ts';

/** What one selection set contains, fragments not included. */
interface Shape {
  readonly fields: readonly FieldNode[];
  readonly fragments: ReadonlySet<string>;
  readonly aliases: number;
  readonly directives: number;
  /** Fields with the name of another one. Validation compares each of them with each other. */
  readonly repeats: number;
}

/**
 * Why a document asks for too much by its shape alone; null when it does not. Runs before validation, whose time grows with the
 * square of what these rules bound, and needs no schema. Each fragment is read once, however often it is spread.
 * Keeps graphql.limit.depth.
 */
export function refusalOf(document: DocumentNode): GraphQLError | null {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const depths = new Map<string, number>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const refusal =
      refusalOfDepth(definition, fragments, depths) ??
      refusalOfRootFields(definition, fragments) ??
      refusalOfCounts(definition, fragments);
    if (refusal !== null) return refusal;
  }
  return null;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

function refusalOfDepth(
  { selectionSet, name }: OperationDefinitionNode,
  fragments: Fragments,
  depths: Map<string, number>,
): GraphQLError | null {
  const depth = depthOf(selectionSet, fragments, depths);
  if (depth <= LIMITS.graphDepthMax) return null;
  const message = `The operation${name === undefined ? '' : ` ${name.value}`} has ${depth} levels; at most ${LIMITS.graphDepthMax} are allowed.`;
  return graphError('DEPTH_LIMIT_EXCEEDED', message, { depth, depthMax: LIMITS.graphDepthMax });
}

/** A field of the operation has depth 1. Introspection is exempt, because its own rule bounds it. */
function depthOf(set: SelectionSetNode, fragments: Fragments, depths: Map<string, number>): number {
  const { fields, fragments: spreads } = shapeOf(set);
  let deepest = 0;
  for (const { name, selectionSet } of fields) {
    if (isIntrospection(name.value)) continue;
    const below = selectionSet === undefined ? 0 : depthOf(selectionSet, fragments, depths);
    deepest = Math.max(deepest, 1 + below);
  }
  for (const spread of spreads) deepest = Math.max(deepest, depthOfFragment(spread, fragments, depths));
  return deepest;
}

function depthOfFragment(name: string, fragments: Fragments, depths: Map<string, number>): number {
  const known = depths.get(name);
  if (known !== undefined) return known;
  const fragment = fragments.get(name);
  // A fragment inside itself: validation refuses it.
  depths.set(name, 0);
  const depth = fragment === undefined ? 0 : depthOf(fragment.selectionSet, fragments, depths);
  depths.set(name, depth);
  return depth;
}

function isIntrospection(field: string): boolean {
  return field === '__schema' || field === '__type';
}

function refusalOfRootFields(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
): GraphQLError | null {
  const isMutation = operation === 'mutation';
  const max = isMutation ? LIMITS.graphMutationFieldsMax : LIMITS.graphQueryFieldsMax;
  let [count, changes] = [0, 0];
  const seen = new Set<string>();
  const sets = [selectionSet];
  for (let set = sets.pop(); set !== undefined; set = sets.pop()) {
    const shape = shapeOf(set);
    const changing = isMutation ? shape.fields.filter(isSingleChange).length : 0;
    changes += changing;
    count += shape.fields.length - changing;
    if (changes > LIMITS.graphMutationChangesMax) {
      return tooMany('a mutation', LIMITS.graphMutationChangesMax, 'changes of single records');
    }
    if (count > max) return tooMany(`a ${operation}`, max, 'fields at its first level');
    for (const name of shape.fragments) {
      const fragment = fragments.get(name);
      if (fragment !== undefined && !seen.has(name)) sets.push(fragment.selectionSet);
      seen.add(name);
    }
  }
  return null;
}

function isSingleChange({ name }: FieldNode): boolean {
  return SINGLE_CHANGES.has(name.value);
}

/** What an operation and all fragments that it reaches contain. */
function refusalOfCounts(operation: OperationDefinitionNode, fragments: Fragments): GraphQLError | null {
  const { variableDefinitions = [], selectionSet } = operation;
  // Their number is bounded, and each needs an alias.
  const needed = operation.operation === 'mutation' ? shapeOf(selectionSet).fields.filter(isSingleChange) : [];
  const total = {
    aliases: -needed.filter(({ alias }) => alias !== undefined).length,
    repeats: 0,
    directives: directivesOf([operation, ...variableDefinitions]),
  };
  const seen = new Set<string>();
  const sets: SelectionSetNode[] = [selectionSet];
  for (let set = sets.pop(); set !== undefined; set = sets.pop()) {
    const shape = shapeOf(set);
    total.aliases += shape.aliases;
    total.repeats += shape.repeats;
    total.directives += shape.directives;
    for (const field of shape.fields) if (field.selectionSet !== undefined) sets.push(field.selectionSet);
    for (const name of shape.fragments) {
      const fragment = fragments.get(name);
      if (fragment === undefined || seen.has(name)) continue;
      seen.add(name);
      total.directives += directivesOf([fragment]);
      sets.push(fragment.selectionSet);
    }
  }
  const counts = [
    [total.aliases, LIMITS.graphAliasesMax, 'aliases'],
    [total.directives, LIMITS.graphDirectivesMax, 'directives'],
    [total.repeats, LIMITS.graphRepeatsMax, 'repetitions of a field'],
    [seen.size, LIMITS.graphFragmentsMax, 'fragments'],
  ] as const;
  for (const [count, max, what] of counts) if (count > max) return tooMany('an operation', max, what);
  return null;
}

function directivesOf(nodes: readonly { readonly directives?: readonly unknown[] | undefined }[]): number {
  return nodes.reduce((sum, { directives }) => sum + (directives?.length ?? 0), 0);
}

function tooMany(whole: string, max: number, what: string): GraphQLError {
  const message = `${whole[0]?.toUpperCase()}${whole.slice(1)} may have at most ${max} ${what}. Send several requests.`;
  return graphError('COMPLEXITY_LIMIT_EXCEEDED', message);
}

/** Inline fragments are part of the selection set that they are in. */
function shapeOf({ selections }: SelectionSetNode): Shape {
  const fields: FieldNode[] = [];
  const fragments = new Set<string>();
  const names = new Set<string>();
  let aliases = 0;
  let directives = 0;
  const rest = [...selections];
  for (let selection = rest.pop(); selection !== undefined; selection = rest.pop()) {
    directives += selection.directives?.length ?? 0;
    if (selection.kind === Kind.FIELD) {
      fields.push(selection);
      if (selection.alias !== undefined) aliases += 1;
      names.add((selection.alias ?? selection.name).value);
    } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
      fragments.add(selection.name.value);
    } else {
      rest.push(...selection.selectionSet.selections);
    }
  }
  return { fields, fragments, aliases, directives, repeats: fields.length - names.size };
}
