import { LIMITS } from '@wts/contracts';
import { Kind } from 'graphql';
import type { DocumentNode, FieldNode, GraphQLError, OperationDefinitionNode, SelectionSetNode } from 'graphql';
import { graphError } from '../../domain/errors.ts';
import { SINGLE_CHANGES } from '../inputs/operations.ts';
import { countsOf, fieldsOf, fragmentsOf, selectedOf, type Fragments } from '../selections.ts';

/**
 * Why a document asks for too much by its shape alone; null when it does not. Runs before validation, whose time grows with the
 * square of what these rules bound, and needs no schema.
 * Keeps graphql.limit.depth.
 */
export function refusalOf(document: DocumentNode): GraphQLError | null {
  const fragments = fragmentsOf(document);
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
  const { fields, fragments: spreads } = selectedOf(set);
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
  const fragment = fragments[name];
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
  const fields = fieldsOf([selectionSet], fragments);
  const changes = isMutation ? fields.filter(({ node }) => isSingleChange(node)).length : 0;
  if (changes > LIMITS.graphMutationChangesMax)
    return tooMany('a mutation', LIMITS.graphMutationChangesMax, 'changes of single records');
  return fields.length - changes > max ? tooMany(`a ${operation}`, max, 'fields at its first level') : null;
}

function isSingleChange({ name }: FieldNode): boolean {
  return SINGLE_CHANGES.has(name.value);
}

/** What an operation and all fragments that it reaches contain. */
function refusalOfCounts(operation: OperationDefinitionNode, fragments: Fragments): GraphQLError | null {
  const { aliases, directives, repeats, fragments: spread } = countsOf(operation, fragments);
  // Their number is bounded, and each needs an alias.
  const needed = operation.operation === 'mutation' ? selectedOf(operation.selectionSet).fields : [];
  const named = needed.filter((field) => field.alias !== undefined && isSingleChange(field)).length;
  const counts = [
    [aliases - named, LIMITS.graphAliasesMax, 'aliases'],
    [directives, LIMITS.graphDirectivesMax, 'directives'],
    [repeats, LIMITS.graphRepeatsMax, 'repetitions of a field'],
    [spread, LIMITS.graphFragmentsMax, 'fragments'],
  ] as const;
  for (const [count, max, what] of counts) if (count > max) return tooMany('an operation', max, what);
  return null;
}

function tooMany(whole: string, max: number, what: string): GraphQLError {
  const message = `${whole[0]?.toUpperCase()}${whole.slice(1)} may have at most ${max} ${what}. Send several requests.`;
  return graphError('COMPLEXITY_LIMIT_EXCEEDED', message);
}
