import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { randomUUID } from 'node:crypto';

/** A place for an id in the arguments of a field: the names on the way to it. */
export type Place = readonly string[];

export type SchemaField = GraphQLField<unknown, unknown>;

/** The ids of records that the caller sees, by the names of their types. */
export type HomeIds = Readonly<Record<string, string>>;

type Inputs = Record<string, unknown>;

const INPUTS_DEEP_MAX = 3;

/** Reads a schema, to make operations of each of its fields and arguments. Nothing of it is known here by name but connections. */
export class SchemaWalk {
  readonly schema: GraphQLSchema;
  readonly #home: HomeIds;

  constructor(schema: GraphQLSchema, home: HomeIds) {
    this.schema = schema;
    this.#home = home;
  }

  get queries(): readonly SchemaField[] {
    return Object.values(this.schema.getQueryType()?.getFields() ?? {});
  }

  get mutations(): readonly SchemaField[] {
    return Object.values(this.schema.getMutationType()?.getFields() ?? {});
  }

  /** The types of records. */
  get records(): readonly GraphQLObjectType[] {
    return Object.values(this.schema.getTypeMap()).filter(
      (type): type is GraphQLObjectType =>
        isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
    );
  }

  /** Fields of a type with lists of records. */
  connectionsOf(type: GraphQLObjectType): readonly SchemaField[] {
    return Object.values(type.getFields()).filter((field) => isConnection(field.type));
  }

  /** All leaf fields of a type, and those of the lists and objects in it up to a depth, without lists of records. */
  selectionOf(type: GraphQLOutputType, depth = 2): string {
    const named = getNamedType(type);
    if (isLeafType(named)) return '';
    if (isInterfaceType(named)) return '{ __typename id }';
    if (!isObjectType(named)) return '{ __typename }';
    const fields = Object.values(named.getFields()).flatMap((field) => {
      if (field.args.some(({ type: needed }) => isNonNullType(needed))) return [];
      if (isLeafType(getNamedType(field.type))) return [field.name];
      if (depth === 0 || (isConnection(field.type) && !isConnection(type))) return [];
      return [`${field.name} ${this.selectionOf(field.type, depth - 1)}`];
    });
    return `{ ${fields.length === 0 ? '__typename' : fields.join(' ')} }`;
  }

  /**
   * Every place for an id in the arguments of a field. The id that a client chooses for a new record is no reference, and `after` is a
   * place in an order of ids.
   */
  idPlaces({ args }: SchemaField): readonly Place[] {
    return args.flatMap((arg) => (arg.name === 'after' ? [] : this.#placesIn(arg.type, [arg.name])));
  }

  /** The type of the records to which the id at a place of a field refers. */
  targetAt(field: SchemaField, place: Place): string {
    return this.#targetOf(recordTypeOf(field), place.at(-1) ?? '');
  }

  #placesIn(type: GraphQLInputType, place: Place): readonly Place[] {
    const named = getNamedType(type);
    if (named.name === 'ID') return [place];
    if (!isInputObjectType(named) || place.length > INPUTS_DEEP_MAX || place[0] === 'filter') return [];
    return Object.values(named.getFields()).flatMap((field) =>
      named.name.endsWith('CreateInput') && field.name === 'id'
        ? []
        : this.#placesIn(field.type, [...place, field.name]),
    );
  }

  /** Arguments that a field needs, with the records of the caller, and this id at the place. */
  argumentsOf(field: SchemaField, place: Place, id: string): Inputs {
    const of = recordTypeOf(field);
    const [first, ...rest] = place;
    const given: Inputs = {};
    for (const arg of field.args) {
      if (arg.name === first) given[arg.name] = this.#at(arg.type, arg.name, { of, rest, id });
      else if (isRequiredArgument(arg)) {
        given[arg.name] = this.#needed(arg.type, arg.name, of);
      }
    }
    return given;
  }

  #at(
    type: GraphQLInputType,
    name: string,
    at: { readonly of: string; readonly rest: Place; readonly id: string },
  ): unknown {
    const bare = getNullableType(type);
    if (isListType(bare)) return [this.#at(bare.ofType, name, at)];
    if (!isInputObjectType(bare)) return at.id;
    const [next = '', ...rest] = at.rest;
    const field = bare.getFields()[next];
    if (!field) throw new Error(`${bare.name} has no ${next}`);
    const needed = this.#neededFields(bare, at.of);
    return { ...needed, [next]: this.#at(field.type, next, { ...at, rest }) };
  }

  #neededFields(type: GraphQLInputObjectType, of: string): Inputs {
    const needed = Object.values(type.getFields()).filter(({ type: one }) => isNonNullType(one));
    return Object.fromEntries(needed.map((field) => [field.name, this.#needed(field.type, field.name, of)]));
  }

  #needed(type: GraphQLInputType, name: string, of: string): unknown {
    const bare = getNullableType(type);
    if (isListType(bare)) return [this.#needed(bare.ofType, name, of)];
    if (isInputObjectType(bare)) return this.#neededFields(bare, of);
    if (isEnumType(bare)) return bare.getValues()[0]?.name;
    if (bare.name === 'ID') return this.#home[this.#targetOf(of, name)] ?? randomUUID();
    if (bare.name === 'Int') return 1;
    if (bare.name === 'Boolean') return false;
    return name === 'key' ? `K${randomUUID().slice(0, 6)}` : `text-${randomUUID().slice(0, 8)}`;
  }

  /** The type of the records that an id refers to: `projectId` is beside `project: Project`. */
  #targetOf(of: string, name: string): string {
    if (name === 'id' || name === 'ids') return of;
    const owner = this.schema.getType(of);
    const beside = isObjectType(owner) ? owner.getFields()[name.replace(/Ids?$/, '')] : undefined;
    if (beside) return getNamedType(beside.type).name;
    return capitalized(name.replace(/Ids?$/, ''));
  }

  /** Paths of leaf comparators in a filter, through relations up to a depth. */
  filterPaths(type: GraphQLInputType, depth: number): readonly { readonly path: Place; readonly comparator: string }[] {
    const named = getNamedType(type);
    if (!isInputObjectType(named)) return [];
    return Object.values(named.getFields()).flatMap((field) => {
      const inner = getNamedType(field.type);
      if (field.name === 'and' || field.name === 'or' || !isInputObjectType(inner)) return [];
      if (inner.name.endsWith('Comparator')) return [{ path: [field.name], comparator: inner.name }];
      if (depth === 0) return [];
      const steps = inner.name.endsWith('CollectionFilter') ? ['some', 'every', 'none'] : [null];
      return steps.flatMap((step) => {
        const of = step === null ? inner : inner.getFields()[step]?.type;
        const before = step === null ? [field.name] : [field.name, step];
        return this.filterPaths(of ?? inner, depth - 1).map(({ path, comparator }) => ({
          path: [...before, ...path],
          comparator,
        }));
      });
    });
  }
}

function isConnection(type: GraphQLOutputType): boolean {
  return getNamedType(type).name.endsWith('Connection');
}

/** The name of the records of a field: `Task` of `taskBatchUpdate`, whose result is a TaskBatchPayload, and of `task(id)`. */
function recordTypeOf({ type }: SchemaField): string {
  return getNamedType(type).name.replace(/(?:Batch)?Payload$|Connection$|Page$/, '');
}

function capitalized(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** An operation with a field once for each of `given`: `r0`, `r1` and so on, with the arguments as variables. */
export function operationOf(
  kind: 'query' | 'mutation',
  field: SchemaField,
  given: readonly Inputs[],
  selection: string,
): { readonly query: string; readonly variables: Inputs } {
  const used = given.map((one) => field.args.filter(({ name }) => name in one));
  const declared = used.flatMap((args, index) => args.map(({ name, type }) => `$${name}${index}: ${String(type)}`));
  const fields = used.map((args, index) => {
    const passed = args.map(({ name }) => `${name}: $${name}${index}`).join(', ');
    return `r${index}: ${field.name}(${passed}) ${selection}`;
  });
  const variables = given.flatMap((one, index) =>
    Object.entries(one).map(([name, value]) => [`${name}${index}`, value]),
  );
  return {
    query: `${kind} (${declared.join(', ')}) { ${fields.join(' ')} }`,
    variables: Object.fromEntries(variables) as Inputs,
  };
}

/** The value inside an object for each name of the way. */
export function nested(path: Place, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}
