import { Kind } from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

/*
 * The selections of a document, read once: depth, counts, cost, the plan of a direct answer and what resolvers need to know are all
 * computed from them.
 */

export interface SelectedField {
  readonly node: FieldNode;
  /** The type that the fragments around it name; null for that of the selection set. */
  readonly on: string | null;
}

/** A selection set. Inline fragments are part of it. */
interface Selected {
  /** In their order: fields, and fragments by their names. */
  readonly parts: readonly (SelectedField | string)[];
  readonly fields: readonly FieldNode[];
  /** Each once. */
  readonly fragments: ReadonlySet<string>;
  readonly aliases: number;
  readonly directives: number;
  /** Fields with the name of another one. Validation compares each of them with each other. */
  readonly repeats: number;
}

/** The fragments of a document by their names, as graphql-js has them. */
export type Fragments = Readonly<Record<string, FragmentDefinitionNode | undefined>>;

const read = new WeakMap<SelectionSetNode, Selected>();

export function selectedOf(set: SelectionSetNode): Selected {
  return read.getOrInsertComputed(set, readSet);
}

function readSet(set: SelectionSetNode): Selected {
  const parts: (SelectedField | string)[] = [];
  let directives = 0;
  const add = ({ selections }: SelectionSetNode, on: string | null): void => {
    for (const selection of selections) {
      directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) parts.push({ node: selection, on });
      else if (selection.kind === Kind.FRAGMENT_SPREAD) parts.push(selection.name.value);
      else add(selection.selectionSet, selection.typeCondition?.name.value ?? on);
    }
  };
  add(set, null);
  const fields = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.node]));
  const names = new Set(fields.map(({ alias, name }) => (alias ?? name).value));
  return {
    parts,
    fields,
    fragments: new Set(parts.filter((part) => typeof part === 'string')),
    aliases: fields.filter(({ alias }) => alias !== undefined).length,
    directives,
    repeats: fields.length - names.size,
  };
}

export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const one of definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments[one.name.value] = one;
  return fragments;
}

/** The fields that are merged in an answer, in its order, with those of fragments, each of which counts once. */
export function fieldsOf(sets: readonly SelectionSetNode[], fragments: Fragments): SelectedField[] {
  const fields: SelectedField[] = [];
  const seen = new Set<string>();
  const add = (set: SelectionSetNode, within: string | null): void => {
    for (const part of selectedOf(set).parts) {
      if (typeof part !== 'string') {
        fields.push(part.on === null && within !== null ? { node: part.node, on: within } : part);
      } else if (!seen.has(part)) {
        seen.add(part);
        const fragment = fragments[part];
        if (fragment !== undefined) add(fragment.selectionSet, fragment.typeCondition.name.value);
      }
    }
  };
  for (const set of sets) add(set, null);
  return fields;
}

/** What an operation and all fragments that it reaches contain. */
export interface Counts {
  readonly aliases: number;
  readonly directives: number;
  readonly repeats: number;
  readonly fragments: number;
  /** The names of all fields. */
  readonly names: ReadonlySet<string>;
}

const counted = new WeakMap<OperationDefinitionNode, Counts>();

/** Each fragment is read once, however often it is spread. */
export function countsOf(operation: OperationDefinitionNode, fragments: Fragments): Counts {
  const known = counted.get(operation);
  if (known !== undefined) return known;
  const { variableDefinitions = [], selectionSet } = operation;
  let [aliases, repeats, directives] = [0, 0, directivesOf([operation, ...variableDefinitions])];
  const names = new Set<string>();
  const seen = new Set<string>();
  const sets = [selectionSet];
  for (let set = sets.pop(); set !== undefined; set = sets.pop()) {
    const selected = selectedOf(set);
    aliases += selected.aliases;
    repeats += selected.repeats;
    directives += selected.directives;
    for (const field of selected.fields) {
      names.add(field.name.value);
      if (field.selectionSet !== undefined) sets.push(field.selectionSet);
    }
    for (const name of selected.fragments) {
      const fragment = fragments[name];
      if (fragment === undefined || seen.has(name)) continue;
      seen.add(name);
      directives += directivesOf([fragment]);
      sets.push(fragment.selectionSet);
    }
  }
  const counts = { aliases, directives, repeats, fragments: seen.size, names };
  counted.set(operation, counts);
  return counts;
}

function directivesOf(nodes: readonly { readonly directives?: readonly unknown[] | undefined }[]): number {
  return nodes.reduce((sum, { directives }) => sum + (directives?.length ?? 0), 0);
}
