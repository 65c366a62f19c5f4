import { Fault, isUuid } from '@wts/contracts';
import { inversesOf, MODELS, relationsOf, singularOf, type Model } from '@wts/models';
import { getArgumentValues, GraphQLError, GraphQLObjectType, Kind } from 'graphql';
import type { FieldNode, GraphQLSchema, SelectionSetNode, ValidatedExecutionArgs, ValueNode } from 'graphql';
import type { RequestContext } from './request-context.ts';
import type { Reads } from '../queries/reads.ts';
import { connectionOf, type Connection, type ConnectionArguments } from '../store/connection.ts';
import { directConnectionStatement, directRecordStatement } from '../store/direct.ts';
import type {
  ConnectionPart,
  ConnectionTree,
  EdgePart,
  PageInfoPart,
  RecordPart,
  RecordTree,
} from '../store/direct.ts';
import type { Statement, StatementWriter } from '../store/statement.ts';
import { fieldsByName } from '../domain/fields.ts';

/**
 * Direct answers: PostgreSQL makes the JSON text of a whole root field, and this process sends it without parsing it.
 *
 * Most queries select pages of records with their fields, the records that these refer to, and pages inside them. Such an operation
 * is planned once for its document: a tree of names without a variable. A request adds the arguments, and one statement for each root
 * field returns the text. A level costs this process nothing then, where executing the operation takes microseconds for each field
 * of each record.
 *
 * The execution of graphql-js stays the rule of what an operation means. An operation is planned only when all of it is of the kinds
 * below; directives, `last`, interfaces, other root fields and fields with resolvers of their own are not. Whatever is unusual in a
 * request (a wrong argument, a reader of very many groups, a statement that fails) makes `answerDirectly` return null, before or
 * after it has read: graphql-js then executes the operation, so each error has one place where it is made. Only a refusal for load or
 * size ends the request at once, because reading again would add to it. A direct answer has no errors: columns of fields that are not
 * nullable are `not null`, and every connection exists.
 * Keeps graphql.answers.direct.
 */
export interface DirectPlan {
  readonly roots: readonly Root[];
}

interface Root {
  /** As the answer begins with it: `"tasks":`. */
  readonly key: string;
  readonly arguments: (variables: Variables) => RootArguments;
  readonly write: (given: RootArguments, variables: Variables, sql: StatementWriter) => Statement;
}

type Variables = ValidatedExecutionArgs['variableValues'];
type RootArguments = Readonly<Record<string, unknown>> & { readonly id?: unknown; readonly minSyncId?: unknown };

/** Why an operation or a request has no direct answer. */
class NotDirect extends Error {}

const plans = new WeakMap<object, DirectPlan | null>();

/** The plan of an operation, made once; null when it has no direct answer. */
export function directPlanOf(validated: ValidatedExecutionArgs): DirectPlan | null {
  const { operation } = validated;
  let plan = plans.get(operation);
  if (plan === undefined) {
    plan = operation.operation === 'query' ? planned(() => new Planner(validated).roots()) : null;
    plans.set(operation, plan);
  }
  return plan;
}

function planned(roots: () => readonly Root[]): DirectPlan | null {
  try {
    return { roots: roots() };
  } catch (error) {
    if (error instanceof NotDirect) return null;
    throw error;
  }
}

/** The data of an operation as JSON text; null when graphql-js must execute it. Rejects when the request has ended, or may not read more. */
export async function answerDirectly(
  { roots }: DirectPlan,
  { variableValues }: ValidatedExecutionArgs,
  { reads, signal }: Pick<RequestContext, 'reads' | 'signal'>,
): Promise<string | null> {
  try {
    const read = roots.map((root) => readRoot(root, variableValues, reads));
    const texts = read.length === 1 ? [await read[0]] : await Promise.all(read);
    return `{${texts.join(',')}}`;
  } catch (error) {
    if (signal.aborted || isFinal(error)) throw error;
    return null;
  }
}

/** Whether reading again would only add load: too many statements wait, or the request has read too many bytes. */
function isFinal(error: unknown): boolean {
  if (error instanceof Fault) return error.code === 'unavailable';
  return error instanceof GraphQLError && error.extensions['code'] === 'COMPLEXITY_LIMIT_EXCEEDED';
}

async function readRoot({ key, arguments: given, write }: Root, variables: Variables, reads: Reads): Promise<string> {
  const values = given(variables);
  if (typeof values.minSyncId === 'string') reads.reach(values.minSyncId);
  const text = await reads.read((sql) => {
    // With very many groups, the conditions of each level would look them up again for each of its records.
    if (!sql.hasFewGroups) throw new NotDirect();
    return write(values, variables, sql);
  });
  return key + (text as string);
}

/** PostgreSQL truncates longer names. */
const NAME_CHARS_MAX = 63;
/** PostgreSQL has fewer than 1,700 columns in a row. */
const FIELDS_MAX = 500;
/** Selections of records and connections in one operation: planning a statement with more of them takes longer than running it. */
const SELECTIONS_MAX = 40;

/**
 * Where a selection is. Under several records which may refer to the same record, a connection of that one would be read once for
 * each of them.
 */
interface Place {
  /** Under several records. */
  readonly isRepeated: boolean;
  /** Under a record to which another one refers. */
  readonly isReferred: boolean;
}

/** The fields of one name in an answer: their selections are merged. */
type Merged = readonly [FieldNode, ...FieldNode[]];

class Planner {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ValidatedExecutionArgs['fragmentDefinitions'];
  readonly #operation: ValidatedExecutionArgs['operation'];
  #selections = 0;

  constructor({ schema, fragmentDefinitions, operation }: ValidatedExecutionArgs) {
    this.#schema = schema;
    this.#fragments = fragmentDefinitions;
    this.#operation = operation;
  }

  roots(): Root[] {
    const type = this.#schema.getQueryType();
    if (!type || this.#operation.directives?.length) throw new NotDirect();
    return this.#collect([this.#operation.selectionSet], type).map(([as, fields]) => this.#root(as, type, fields));
  }

  #root(as: string, type: GraphQLObjectType, fields: Merged): Root {
    const name = fields[0].name.value;
    const given = argumentsOf(type, fields[0]);
    const place = { isRepeated: false, isReferred: false };
    for (const model of MODELS) {
      if (name === model.plural) {
        const tree = this.#connection(model, { given, fields, place });
        const write: Root['write'] = (_given, variables, sql) => directConnectionStatement(tree, variables, sql);
        return { key: `"${as}":`, arguments: given, write };
      }
      if (name === singularOf(model)) {
        const tree = this.#record(model, fields, place);
        const write: Root['write'] = ({ id }, variables, sql) => {
          if (!isUuid(id)) throw new NotDirect();
          return directRecordStatement({ tree, id: id.toLowerCase() }, variables, sql);
        };
        return { key: `"${as}":`, arguments: given, write };
      }
    }
    throw new NotDirect();
  }

  #record(model: Model, at: Merged, place: Place): RecordTree {
    const type = this.#objectType(model.name);
    const values = fieldsByName(model);
    const relations = new Map(relationsOf(model).map((relation) => [relation.name, relation]));
    const inverses = new Map(inversesOf(model).map((inverse) => [inverse.name, inverse]));
    // A person who left is only a record that was kept.
    const hasOnlyValues = model.audience.kind === 'person';
    const fields = this.#collect(selectionsOf(at), type).map(([as, merged]): RecordPart => {
      const name = merged[0].name.value;
      if (name === '__typename') return { as, kind: 'constant', value: model.name };
      if (values.has(name)) return { as, kind: 'value', field: name };
      const relation = relations.get(name);
      const inverse = inverses.get(name);
      if (hasOnlyValues) throw new NotDirect();
      if (relation?.many === false) {
        const below = this.#record(relation.target, merged, { ...place, isReferred: true });
        return { as, kind: 'record', relation, below };
      }
      const scope = relation ?? inverse;
      if (scope === undefined || (place.isReferred && place.isRepeated)) throw new NotDirect();
      const target = 'target' in scope ? scope.target : scope.source;
      const given = argumentsOf(type, merged[0]);
      // The records of a list that several records have are read for each of them.
      const inside = { isRepeated: place.isRepeated, isReferred: scope.many };
      return {
        as,
        kind: 'connection',
        scope,
        below: this.#connection(target, { given, fields: merged, place: inside }),
      };
    });
    return { model, fields };
  }

  #connection(model: Model, { given, fields, place }: ConnectionAt): ConnectionTree {
    const type = this.#objectType(`${model.name}Connection`);
    const inside = { isRepeated: true, isReferred: place.isReferred && place.isRepeated };
    const parts = this.#collect(selectionsOf(fields), type).map(([as, merged]): ConnectionPart => {
      switch (merged[0].name.value) {
        case '__typename':
          return { as, kind: 'constant', value: type.name };
        case 'nodes':
          return { as, kind: 'nodes', below: this.#record(model, merged, inside) };
        case 'edges':
          return { as, kind: 'edges', below: this.#edge(model, merged, inside) };
        case 'pageInfo':
          return { as, kind: 'pageInfo', below: this.#pageInfo(merged) };
        case 'totalCount':
          return { as, kind: 'totalCount' };
        default:
          throw new NotDirect();
      }
    });
    for (const kind of ['nodes', 'edges'] as const)
      if (parts.filter((part) => part.kind === kind).length > 1) throw new NotDirect();
    return { connection: connectionAt(model, given, fields[0].arguments?.some(hasVariable) === true), parts };
  }

  #edge(model: Model, at: Merged, place: Place): EdgePart[] {
    const type = this.#objectType(`${model.name}Edge`);
    return this.#collect(selectionsOf(at), type).map(([as, merged]): EdgePart => {
      const name = merged[0].name.value;
      if (name === '__typename') return { as, kind: 'constant', value: type.name };
      if (name === 'cursor') return { as, kind: 'cursor' };
      return { as, kind: 'node', below: this.#record(model, merged, place) };
    });
  }

  #pageInfo(at: Merged): PageInfoPart[] {
    const type = this.#objectType('PageInfo');
    return this.#collect(selectionsOf(at), type).map(([as, [{ name }]]): PageInfoPart => {
      if (name.value === '__typename') return { as, kind: 'constant', value: type.name };
      return { as, kind: name.value as Exclude<PageInfoPart['kind'], 'constant'> };
    });
  }

  #objectType(name: string): GraphQLObjectType {
    const type = this.#schema.getType(name);
    if (!(type instanceof GraphQLObjectType)) throw new NotDirect();
    return type;
  }

  /** The selected fields by their names in the answer, in its order (CollectFields of the specification, section 6.3.2). */
  #collect(sets: readonly SelectionSetNode[], type: GraphQLObjectType): [string, Merged][] {
    this.#selections += 1;
    if (this.#selections > SELECTIONS_MAX) throw new NotDirect();
    const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
    const visited = new Set<string>();
    const add = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        if (selection.directives?.length) throw new NotDirect();
        if (selection.kind === Kind.FIELD) {
          const as = (selection.alias ?? selection.name).value;
          const known = fields.get(as);
          if (known === undefined) fields.set(as, [selection]);
          else known.push(selection);
          continue;
        }
        const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments[selection.name.value];
        if (fragment === undefined) throw new NotDirect();
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          if (visited.has(selection.name.value)) continue;
          visited.add(selection.name.value);
        }
        if (fragment.directives?.length) throw new NotDirect();
        const condition = fragment.typeCondition?.name.value;
        if (condition !== undefined && condition !== type.name) throw new NotDirect();
        add(fragment.selectionSet);
      }
    };
    for (const set of sets) add(set);
    const names = [...fields.keys()];
    if (names.length > FIELDS_MAX || names.some((name) => name.length > NAME_CHARS_MAX)) throw new NotDirect();
    return [...fields];
  }
}

interface ConnectionAt {
  readonly given: (variables: Variables) => RootArguments;
  readonly fields: Merged;
  readonly place: Place;
}

function selectionsOf(fields: Merged): SelectionSetNode[] {
  return fields.flatMap(({ selectionSet }) => selectionSet ?? []);
}

function argumentsOf(type: GraphQLObjectType, node: FieldNode): (variables: Variables) => RootArguments {
  const definition = type.getFields()[node.name.value];
  if (definition === undefined) throw new NotDirect();
  // A root field and its connection need the same ones.
  const known = new WeakMap<Variables, RootArguments>();
  return (variables) => {
    let values = known.get(variables);
    if (values === undefined) known.set(variables, (values = getArgumentValues(definition, node, variables)));
    return values;
  };
}

function hasVariable({ value }: { readonly value: ValueNode }): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some((one) => hasVariable({ value: one }));
  return value.kind === Kind.OBJECT && value.fields.some(hasVariable);
}

/** The connection of a request; the same for all requests where its arguments have no variable. */
function connectionAt(
  model: Model,
  given: (variables: Variables) => RootArguments,
  isVariable: boolean,
): ConnectionTree['connection'] {
  let constant: Connection | undefined;
  return (variables) => {
    if (constant !== undefined) return constant;
    const connection = connectionOf(model, given(variables as Variables) as ConnectionArguments, ALL);
    if (connection.isBackward) throw new NotDirect();
    if (!isVariable) constant = connection;
    return connection;
  };
}

const ALL = { selects: () => true };
