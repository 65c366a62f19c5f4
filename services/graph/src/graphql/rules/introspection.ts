import { getNamedType, isObjectType, Kind, SchemaMetaFieldDef, TypeMetaFieldDef } from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  GraphQLError,
  GraphQLField,
  GraphQLSchema,
  SelectionSetNode,
  ValidatedExecutionArgs,
} from 'graphql';
import { GRAPH_LIMITS } from '../../limits.ts';
import { fieldsOf, fragmentsOf, type Fragments, type SelectedField } from '../selections.ts';
import { graphError } from '../../domain/errors.ts';

type Field = GraphQLField<unknown, unknown>;

const ROOTS: ReadonlyMap<string, Field> = new Map([
  ['__schema', SchemaMetaFieldDef],
  ['__type', TypeMetaFieldDef],
]);

interface Introspection {
  readonly introspects: boolean;
  /** Why the document reads too much of the schema; null when it does not. */
  readonly refusal: GraphQLError | null;
}

/**
 * What a valid document reads of the schema. graphql-js answers introspection in one turn of the event
 * loop, which no signal ends, and a kilobyte of fragments can ask for millions of fields. So the fields of the answer are counted
 * before, with the schema itself, and a selection of the same part of the schema once. Keeps graphql.limit.introspection.
 */
export function introspectionOf(schema: GraphQLSchema, document: DocumentNode): Introspection {
  let introspects = false;
  const fragments = fragmentsOf(document);
  // One for all operations, because otherwise a document of hundreds that share fragments takes as many times as long.
  const counter = new Counter(schema, fragments);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const roots = fieldsOf([definition.selectionSet], fragments).filter(({ node }) => ROOTS.has(node.name.value));
    introspects ||= roots.length > 0;
    const fields = roots.reduce((sum, { node }) => sum + counter.root(node), 0);
    const { introspectionFieldsMax: max } = GRAPH_LIMITS;
    if (fields > max) {
      const message = `The introspection has more than ${max} fields. Ask for parts of the schema in several requests, or read /graphql/schema.graphql.`;
      return { introspects, refusal: graphError('COMPLEXITY_LIMIT_EXCEEDED', message) };
    }
  }
  return { introspects, refusal: null };
}

/** Whether an operation reads nothing but the schema, and always the same of it. */
export function isIntrospection({ operation }: Pick<ValidatedExecutionArgs, 'operation'>): boolean {
  const { selectionSet, variableDefinitions = [] } = operation;
  const names = selectionSet.selections.map((one) => (one.kind === Kind.FIELD ? one.name.value : ''));
  return variableDefinitions.length === 0 && names.every((name) => name.startsWith('__'));
}

class Counter {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #fieldsOf = new Map<SelectionSetNode, readonly SelectedField[]>();
  readonly #counts = new Map<SelectionSetNode, Map<unknown, number>>();
  #steps = 0;

  constructor(schema: GraphQLSchema, fragments: Fragments) {
    this.#schema = schema;
    this.#fragments = fragments;
  }

  root(node: FieldNode): number {
    const field = ROOTS.get(node.name.value) as Field;
    const name = node.arguments?.find((argument) => argument.name.value === 'name')?.value;
    // A variable may name any type.
    const names = name?.kind === Kind.STRING ? [name.value] : Object.keys(this.#schema.getTypeMap());
    if (field === SchemaMetaFieldDef || names.length === 1)
      return this.#field(node, { field, of: null, name: names[0] });
    return Math.max(...names.map((one) => this.#field(node, { field, of: null, name: one })));
  }

  #field(node: FieldNode, { field, of, name }: { field: Field; of: unknown; name?: string | undefined }): number {
    const type = getNamedType(field.type);
    if (node.selectionSet === undefined || !isObjectType(type)) return 1;
    const { selectionSet } = node;
    // Deprecated parts are counted, because a variable may ask for them.
    const found: unknown = field.resolve?.(of, { name, includeDeprecated: true }, undefined, {
      schema: this.#schema,
    } as never);
    const parts = Array.isArray(found) ? (found as unknown[]) : [found];
    let count = 1;
    for (const part of parts) {
      if (part === null || part === undefined) continue;
      count += this.#set(selectionSet, type.getFields(), part);
      if (count > GRAPH_LIMITS.introspectionFieldsMax) break;
    }
    return count;
  }

  #set(set: SelectionSetNode, fields: Readonly<Record<string, Field>>, of: unknown): number {
    const counts = this.#counts.getOrInsertComputed(set, () => new Map());
    const known = counts.get(of);
    if (known !== undefined) return known;
    const nodes = this.#fieldsOf.getOrInsertComputed(set, () => fieldsOf([set], this.#fragments));
    let count = 0;
    for (const { node } of nodes) {
      this.#steps += 1;
      // Each step is a field of an answer, so there are more than allowed, or the document has several operations with many.
      if (this.#steps > STEPS_MAX) return Infinity;
      const field = fields[node.name.value];
      count += field === undefined ? 1 : this.#field(node, { field, of });
    }
    counts.set(of, count);
    return count;
  }
}

/** Of a document. Of `__type` with a variable, the answers for all types are counted, of which it has one. */
const STEPS_MAX = 2 * GRAPH_LIMITS.introspectionFieldsMax;
