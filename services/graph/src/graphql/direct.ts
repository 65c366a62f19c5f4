import { Fault, isUuid } from '@wts/contracts';
import { inversesOf, MODELS, relationsOf, singularOf, type Model } from '@wts/models';
import { getArgumentValues, GraphQLError, Kind } from 'graphql';
import type {
  FieldNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLSchema,
  SelectionSetNode,
  ValidatedExecutionArgs,
  ValueNode,
} from 'graphql';
import { fieldsByName } from '../domain/fields.ts';
import type { Reads } from '../queries/reads.ts';
import { connectionOf, type Connection } from '../store/connection.ts';
import { directConnectionStatement, directRecordStatement } from '../store/direct.ts';
import type {
  ConnectionPart,
  ConnectionTree,
  EdgePart,
  PageInfoPart,
  RecordPart,
  RecordTree,
} from '../store/direct.ts';
import { ALL_TEXTS } from '../store/record.ts';
import type { Statement, StatementWriter } from '../store/statement.ts';
import type { RequestContext } from './request-context.ts';
import { countsOf, fieldsOf } from './selections.ts';

/**
 * Direct answers: PostgreSQL makes the JSON text of a whole root field, and this process sends it without parsing it.
 *
 * Most queries select pages of records with their fields, the records that these refer to, and pages inside them. Such an operation
 * is planned once for its document: a tree of names without a variable. A request adds the arguments, and one statement for each root
 * field returns the text. A level costs this process nothing then, where executing the operation takes microseconds for each field
 * of each record.
 *
 * The execution of graphql-js stays the rule of what an operation means. An operation is planned only when all of it is of the kinds
 * below. Whatever is unusual in it or in a request is a reason of `NOT_DIRECT`, before or after it has read: graphql-js then executes
 * the operation, so each error has one place where it is made. Only a refusal for load or size ends the request at once, because
 * reading again would add to it. A direct answer has no errors: columns of fields that are not nullable are `not null`, and every
 * connection exists. Keeps graphql.answers.direct.
 */
export type DirectAnswer =
  | { readonly ok: true; /** The data as JSON. */ readonly text: string }
  | { readonly ok: false; readonly reason: NotDirect };

/** Why graphql-js executes an operation: the values of a label of `wts_graphql_operations_total`. */
export const NOT_DIRECT = {
  mutation: 'It changes records.',
  directive: 'It has a directive, such as `@include`.',
  root: 'A field of the operation is neither a list of records nor a record by its id.',
  interface: 'A fragment is for another type than the one that it is in.',
  computed: 'A field is computed by this service, such as `viewerRole`.',
  repeated: 'Several records may refer to the record whose list is selected.',
  pages: 'The records of one page are selected under two names.',
  size: 'It has more selections or longer names than one statement should have.',
  backward: 'A page is read from its end, by `last`.',
  argument: 'An argument is wrong.',
  groups: 'The caller is in many groups, which would be looked up for each record again.',
  statement: 'A statement failed.',
} as const;

export type NotDirect = keyof typeof NOT_DIRECT;

interface DirectPlan {
  readonly roots: readonly Root[];
  readonly connections: readonly ConnectionTree['connection'][];
}

interface Root {
  /** As the answer begins with it: `"tasks":`. */
  readonly key: string;
  readonly arguments: (variables: Variables) => Arguments;
  readonly write: (id: string, variables: Variables, sql: StatementWriter) => Statement;
  /** Whether the field takes an id. */
  readonly isRecord: boolean;
}

type Variables = ValidatedExecutionArgs['variableValues'];
type Arguments = Readonly<Record<string, unknown>>;

const plans = new WeakMap<object, DirectPlan | NotDirect>();

/** The plan of an operation, made once; or why it has none. */
function planOf(validated: ValidatedExecutionArgs): DirectPlan | NotDirect {
  return plans.getOrInsertComputed(validated.operation, () => new DirectPlanner(validated).plan());
}

/** Rejects when the request has ended, or may not read more. */
export async function answerDirectly(
  validated: ValidatedExecutionArgs,
  { reads, signal }: Pick<RequestContext, 'reads' | 'signal'>,
): Promise<DirectAnswer> {
  const plan = planOf(validated);
  if (typeof plan === 'string') return { ok: false, reason: plan };
  const { variableValues } = validated;
  try {
    if (plan.connections.some((at) => at(variableValues).isBackward)) return { ok: false, reason: 'backward' };
    const read = plan.roots.map((root) => readRoot(root, variableValues, reads));
    const texts = read.length === 1 ? [await read[0]] : await Promise.all(read);
    const reason = texts.find((text) => text === 'groups' || text === 'argument');
    return reason === undefined ? { ok: true, text: `{${texts.join(',')}}` } : { ok: false, reason };
  } catch (error) {
    if (signal.aborted || isFinal(error)) throw error;
    return { ok: false, reason: error instanceof Fault || error instanceof GraphQLError ? 'argument' : 'statement' };
  }
}

/** Whether reading again would only add load: too many statements wait, or the request has read too many bytes. */
function isFinal(error: unknown): boolean {
  if (error instanceof Fault) return error.code === 'unavailable';
  return error instanceof GraphQLError && error.extensions['code'] === 'COMPLEXITY_LIMIT_EXCEEDED';
}

/** The member of the answer, which begins with a quotation mark; or why there is none. */
async function readRoot(
  { key, arguments: given, write, isRecord }: Root,
  variables: Variables,
  reads: Reads,
): Promise<string> {
  const { id, minSyncId } = given(variables);
  if (isRecord && !isUuid(id)) return 'argument' satisfies NotDirect;
  if (typeof minSyncId === 'string') reads.reach(minSyncId);
  const text = await reads.read((sql) => (sql.hasFewGroups ? write(String(id).toLowerCase(), variables, sql) : null));
  return text === undefined ? ('groups' satisfies NotDirect) : key + (text as string);
}

/** PostgreSQL truncates longer names. */
const NAME_CHARS_MAX = 63;
/** PostgreSQL has fewer than 1,700 columns in a row. */
const FIELDS_MAX = 500;
/** Selections of records and connections in one operation: planning a statement with more of them takes longer than running it. */
const SELECTIONS_MAX = 40;

/**
 * What is around a selection. Under several records which may refer to the same record, a connection of that one would be read once
 * for each of them.
 */
interface Surroundings {
  /** Under several records. */
  readonly isRepeated: boolean;
  /** Under a record to which another one refers. */
  readonly isReferred: boolean;
}

/** The fields of one name in an answer: their selections are merged. */
type Merged = readonly [FieldNode, ...FieldNode[]];

/** Plans an operation. It goes on after the first reason against it, so that no caller has to check for one. */
class DirectPlanner {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ValidatedExecutionArgs['fragmentDefinitions'];
  readonly #operation: ValidatedExecutionArgs['operation'];
  readonly #connections: ConnectionTree['connection'][] = [];
  #selections = 0;
  #reason: NotDirect | null = null;

  constructor({ schema, fragmentDefinitions, operation }: ValidatedExecutionArgs) {
    this.#schema = schema;
    this.#fragments = fragmentDefinitions;
    this.#operation = operation;
  }

  plan(): DirectPlan | NotDirect {
    const { operation, selectionSet } = this.#operation;
    if (operation !== 'query') return 'mutation';
    if (countsOf(this.#operation, this.#fragments).directives > 0) return 'directive';
    const roots = this.#collect([selectionSet], 'Query').flatMap(([as, fields]) => this.#root(as, fields));
    return this.#reason ?? { roots, connections: this.#connections };
  }

  #refuse(reason: NotDirect): [] {
    this.#reason ??= reason;
    return [];
  }

  #root(as: string, fields: Merged): Root | [] {
    const { value: name } = fields[0].name;
    const model = MODELS.find((one) => name === one.plural || name === singularOf(one));
    if (model === undefined) return this.#refuse('root');
    const given = this.#argumentsOf('Query', fields[0]);
    const around = { isRepeated: false, isReferred: false };
    const root = { key: `"${as}":`, arguments: given };
    if (name === model.plural) {
      const tree = this.#connection(model, { given, fields, around });
      return {
        ...root,
        isRecord: false,
        write: (_id, variables, sql) => directConnectionStatement(tree, variables, sql),
      };
    }
    const tree = this.#record(model, fields, around);
    return {
      ...root,
      isRecord: true,
      write: (id, variables, sql) => directRecordStatement({ tree, id }, variables, sql),
    };
  }

  #record(model: Model, at: Merged, around: Surroundings): RecordTree {
    const values = fieldsByName(model);
    const relations = new Map(relationsOf(model).map((relation) => [relation.name, relation]));
    const inverses = new Map(inversesOf(model).map((inverse) => [inverse.name, inverse]));
    const fields = this.#collect(selectionsOf(at), model.name).flatMap(([as, merged]): RecordPart | [] => {
      const name = merged[0].name.value;
      if (name === '__typename') return { as, kind: 'constant', value: model.name };
      if (values.has(name)) return { as, kind: 'value', field: name };
      const relation = relations.get(name);
      const scope = relation ?? inverses.get(name);
      // A person who left is only a record that was kept, which has values.
      if (scope === undefined || model.audience.kind === 'person') return this.#refuse('computed');
      if (relation?.many === false) {
        const below = this.#record(relation.target, merged, { ...around, isReferred: true });
        return { as, kind: 'record', relation, below };
      }
      if (around.isReferred && around.isRepeated) return this.#refuse('repeated');
      const given = this.#argumentsOf(model.name, merged[0]);
      const below = this.#connection('target' in scope ? scope.target : scope.source, {
        given,
        fields: merged,
        // The records of a list that several records have are read for each of them.
        around: { isRepeated: around.isRepeated, isReferred: scope.many },
      });
      return { as, kind: 'connection', scope, below };
    });
    return { model, fields };
  }

  #connection(model: Model, { given, fields, around }: ConnectionAt): ConnectionTree {
    const type = `${model.name}Connection`;
    const inside = { isRepeated: true, isReferred: around.isReferred && around.isRepeated };
    const parts = this.#collect(selectionsOf(fields), type).map(([as, merged]): ConnectionPart => {
      const name = merged[0].name.value as Exclude<ConnectionPart['kind'], 'constant'> | '__typename';
      switch (name) {
        case '__typename':
          return { as, kind: 'constant', value: type };
        case 'nodes':
          return { as, kind: name, below: this.#record(model, merged, inside) };
        case 'edges':
          return { as, kind: name, below: this.#edge(model, merged, inside) };
        case 'pageInfo':
          return { as, kind: name, below: this.#pageInfo(merged) };
        case 'totalCount':
          return { as, kind: name };
      }
    });
    for (const kind of ['nodes', 'edges'] as const)
      if (parts.filter((part) => part.kind === kind).length > 1) this.#refuse('pages');
    const connection = connectionAt(model, given, fields[0].arguments?.some(hasVariable) === true);
    this.#connections.push(connection);
    return { connection, parts };
  }

  #edge(model: Model, at: Merged, around: Surroundings): EdgePart[] {
    const type = `${model.name}Edge`;
    return this.#collect(selectionsOf(at), type).map(([as, merged]): EdgePart => {
      const name = merged[0].name.value;
      if (name === '__typename') return { as, kind: 'constant', value: type };
      if (name === 'cursor') return { as, kind: 'cursor' };
      return { as, kind: 'node', below: this.#record(model, merged, around) };
    });
  }

  #pageInfo(at: Merged): PageInfoPart[] {
    return this.#collect(selectionsOf(at), 'PageInfo').map(([as, [{ name }]]): PageInfoPart => {
      if (name.value === '__typename') return { as, kind: 'constant', value: 'PageInfo' };
      return { as, kind: name.value as Exclude<PageInfoPart['kind'], 'constant'> };
    });
  }

  /** The selected fields by their names in the answer, in its order (CollectFields of the specification, section 6.3.2). */
  #collect(sets: readonly SelectionSetNode[], type: string): [string, Merged][] {
    this.#selections += 1;
    if (this.#selections > SELECTIONS_MAX) return this.#refuse('size');
    const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
    for (const { node, on } of fieldsOf(sets, this.#fragments)) {
      if (on !== null && on !== type) return this.#refuse('interface');
      const as = (node.alias ?? node.name).value;
      const known = fields.get(as);
      if (known === undefined) fields.set(as, [node]);
      else known.push(node);
    }
    if (fields.size > FIELDS_MAX || [...fields.keys()].some((name) => name.length > NAME_CHARS_MAX))
      return this.#refuse('size');
    return [...fields];
  }

  #argumentsOf(type: string, node: FieldNode): (variables: Variables) => Arguments {
    const { [node.name.value]: field } = (this.#schema.getType(type) as GraphQLObjectType).getFields();
    // A root field and its connection need the same ones.
    return oncePerRequest((variables) =>
      getArgumentValues(field as GraphQLField<unknown, unknown>, node, variables as Variables),
    );
  }
}

interface ConnectionAt {
  readonly given: (variables: Variables) => Arguments;
  readonly fields: Merged;
  readonly around: Surroundings;
}

function selectionsOf(fields: Merged): SelectionSetNode[] {
  return fields.flatMap(({ selectionSet }) => selectionSet ?? []);
}

function hasVariable({ value }: { readonly value: ValueNode }): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some((one) => hasVariable({ value: one }));
  return value.kind === Kind.OBJECT && value.fields.some(hasVariable);
}

function oncePerRequest<T>(make: (variables: object) => T): (variables: object) => T {
  const known = new WeakMap<object, T>();
  return (variables) => known.getOrInsertComputed(variables, make);
}

/** The connection of a request; the same for all requests where its arguments have no variable. */
function connectionAt(
  model: Model,
  given: (variables: Variables) => Arguments,
  isVariable: boolean,
): ConnectionTree['connection'] {
  const make = (variables: object): Connection => connectionOf(model, given(variables as Variables), ALL_TEXTS);
  if (isVariable) return oncePerRequest(make);
  let constant: Connection | undefined;
  return (variables) => (constant ??= make(variables));
}
