import { LIMITS } from '@wts/contracts';
import { getNamedType, isCompositeType, isListType, isNonNullType, Kind } from 'graphql';
import type {
  FieldNode,
  GraphQLCompositeType,
  GraphQLError,
  GraphQLField,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
  ValueNode,
} from 'graphql';
import { GRAPH_LIMITS } from '../../limits.ts';
import { selectedOf, type Fragments } from '../selections.ts';
import { graphError } from '../../domain/errors.ts';

export interface Cost {
  /** Records that lists can return: `first` of each list, multiplied by the lists around it. */
  readonly nodes: number;
  /** Those, and the single records that they refer to. */
  readonly objects: number;
}

type Variables = Readonly<Record<string, unknown>>;

/** How many records a list returns at most. */
type Count = number | ((variables: Variables) => number);

/** `list`: a list of `count` records. `single`: one record. `part`: a part of the object around it, such as `edges`. */
interface FieldPlan {
  readonly kind: 'list' | 'single' | 'part';
  readonly name: string;
  readonly count: Count;
  readonly below: SetPlan;
}

/** A selection set, planned once for each document. Plans of fragments are shared by their spreads. */
interface SetPlan {
  readonly fields: readonly FieldPlan[];
  readonly fragments: readonly SetPlan[];
  /** Set when no variable changes it. */
  constant: Cost | null;
}

export interface CostPlan extends SetPlan {
  /** What is selected of the records of each unsized list. */
  readonly unsized: ReadonlyMap<FieldNode, SetPlan>;
}

/** Plans the cost of an operation of a validated document. Keeps graphql.limit.cost. */
export function planCost(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments): CostPlan {
  const defaults = new Map<string, ValueNode>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue !== undefined) defaults.set(variable.name.value, defaultValue);
  }
  const root = schema.getRootType(operation.operation);
  if (!root) throw new Error(`the schema has no ${operation.operation}`);
  const planner = new CostPlanner(schema, fragments, defaults);
  return { ...planner.set(root, operation.selectionSet), unsized: planner.unsized };
}

class CostPlanner {
  readonly unsized = new Map<FieldNode, SetPlan>();
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #defaults: ReadonlyMap<string, ValueNode>;
  readonly #planned = new Map<string, SetPlan>();

  constructor(schema: GraphQLSchema, fragments: Fragments, defaults: ReadonlyMap<string, ValueNode>) {
    this.#schema = schema;
    this.#fragments = fragments;
    this.#defaults = defaults;
  }

  set(parent: GraphQLCompositeType, set: SelectionSetNode): SetPlan {
    const fields: FieldPlan[] = [];
    const fragments: SetPlan[] = [];
    for (const part of selectedOf(set).parts) {
      if (typeof part === 'string') fragments.push(this.#fragment(part));
      else {
        const plan = this.#field(part.on === null ? parent : this.#composite(part.on), part.node);
        if (plan !== null) fields.push(plan);
      }
    }
    const plan: SetPlan = { fields, fragments, constant: null };
    if (isConstant(plan)) plan.constant = add(plan, {}, new Map());
    return plan;
  }

  #fragment(name: string): SetPlan {
    return this.#planned.getOrInsertComputed(name, () => {
      const fragment = this.#fragments[name];
      if (fragment === undefined) throw new Error(`no fragment ${name}`);
      return this.set(this.#composite(fragment.typeCondition.name.value), fragment.selectionSet);
    });
  }

  #composite(name: string): GraphQLCompositeType {
    const type = this.#schema.getType(name);
    if (!isCompositeType(type)) throw new Error(`${name} has no fields`);
    return type;
  }

  /** Null for a field without fields, and for introspection. */
  #field(parent: GraphQLCompositeType, node: FieldNode): FieldPlan | null {
    const name = node.name.value;
    if (node.selectionSet === undefined || name.startsWith('__')) return null;
    const field = this.#schema.getField(parent, name);
    const type = field && getNamedType(field.type);
    if (field === undefined || !isCompositeType(type)) throw new Error(`${parent.name} has no field ${name}`);
    const below = this.set(type, node.selectionSet);
    if (PARTS.test(parent.name)) return { kind: 'part', name, count: 1, below };
    const size = Object.entries(SIZES).find(([one]) => field.args.some((argument) => argument.name === one));
    if (size !== undefined) return { kind: 'list', name, count: this.#count(node, ...size), below };
    if (!isList(field)) return { kind: 'single', name, count: 1, below };
    // Charged as one record before it is read, and then as what it is.
    this.unsized.set(node, below);
    return { kind: 'list', name, count: 1, below };
  }

  #count(node: FieldNode, size: string, countOf: (value: unknown) => number): Count {
    const [given, other] = [this.#given(node, size), size === 'first' ? this.#given(node, 'last') : null];
    if (typeof given !== 'function' && typeof other !== 'function') return countOf(given ?? other);
    return (variables) => countOf(valueOf(given, variables) ?? valueOf(other, variables));
  }

  /** The value of an argument; null without one. */
  #given(node: FieldNode, name: string): Given {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value === undefined || value.kind === Kind.NULL) return null;
    if (value.kind !== Kind.VARIABLE) return literalOf(value);
    const variable = value.name.value;
    const fallback = this.#defaults.get(variable);
    const ofFallback = fallback === undefined ? undefined : literalOf(fallback);
    return (variables) => (variables[variable] === undefined ? ofFallback : variables[variable]);
  }
}

/** A literal, or what it is with the variables of a request. */
type Given = ReturnType<typeof literalOf> | null | ((variables: Variables) => unknown);

function valueOf(given: Given, variables: Variables): unknown {
  return typeof given === 'function' ? given(variables) : given;
}

/** Pages, their edges, and results of mutations: their lists are those that the field around them was charged for. */
const PARTS = /(?:Connection|Edge|Page|Payload|SearchResult|SearchHit)$/;

function isList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

/** The arguments for the size of a list, and how many records they give it. A wrong number is refused when the field runs. */
const SIZES: Readonly<Record<string, (value: unknown) => number>> = {
  first: (value) => clamped(value, LIMITS.graphPageDefault, LIMITS.graphPageMax),
  // A batch returns a record for each of its items.
  ids: lengthOf,
  inputs: lengthOf,
  limit: (value) => clamped(value, LIMITS.listPageDefault, LIMITS.listPageMax),
};

/** Whether a field is a list of records whose size only reading shows. */
export function isUnsized(parent: string, field: GraphQLField<unknown, unknown>): boolean {
  if (parent.startsWith('__') || PARTS.test(parent) || !isList(field) || !isCompositeType(getNamedType(field.type)))
    return false;
  return !field.args.some(({ name }) => name in SIZES);
}

/** What the readers of a literal need: a whole number, or the length of a list. */
function literalOf(value: ValueNode): number | readonly ValueNode[] | undefined {
  if (value.kind === Kind.INT) return Number(value.value);
  return value.kind === Kind.LIST ? value.values : undefined;
}

function clamped(value: unknown, initial: number, max: number): number {
  return typeof value !== 'number' || Number.isNaN(value) ? initial : Math.min(Math.max(value, 0), max);
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}

function isConstant({ fields, fragments }: SetPlan): boolean {
  const isFixed = ({ count, below }: FieldPlan): boolean => typeof count === 'number' && below.constant !== null;
  return fields.every(isFixed) && fragments.every(({ constant }) => constant !== null);
}

/** The cost with the values of a request. */
export function costOf(plan: SetPlan, variables: Variables): Cost {
  return plan.constant ?? add(plan, variables, new Map());
}

/** Each fragment is computed once, because spreads inside spreads would take exponential time. */
function add(plan: SetPlan, variables: Variables, known: Map<SetPlan, Cost>): Cost {
  if (plan.constant !== null) return plan.constant;
  const computed = known.get(plan);
  if (computed !== undefined) return computed;
  const sum = { nodes: 0, objects: 0 };
  for (const field of plan.fields) addTo(sum, costOfField(field, variables, known));
  for (const fragment of plan.fragments) addTo(sum, add(fragment, variables, known));
  known.set(plan, sum);
  return sum;
}

/** In place, because every request adds up a hundred costs. */
function addTo(sum: { -readonly [Part in keyof Cost]: Cost[Part] }, { nodes, objects }: Cost): void {
  sum.nodes += nodes;
  sum.objects += objects;
}

function costOfField(
  { kind, count: counted, below: set }: FieldPlan,
  variables: Variables,
  known: Map<SetPlan, Cost>,
): Cost {
  const below = add(set, variables, known);
  if (kind === 'part') return below;
  if (kind === 'single') return { nodes: below.nodes, objects: below.objects + 1 };
  const count = typeof counted === 'number' ? counted : counted(variables);
  return { nodes: count * (1 + below.nodes), objects: count * (1 + below.objects) };
}

/** What one request is charged. */
export class Charge {
  readonly #plan: CostPlan;
  readonly #variables: Variables;
  #cost: Cost;
  #chars = 0;

  constructor(plan: CostPlan, variables: Variables) {
    this.#plan = plan;
    this.#variables = variables;
    this.#cost = costOf(plan, variables);
  }

  get cost(): Cost {
    return this.#cost;
  }

  /** Why the operation does not run, or does not go on; null when it may. */
  refusal(): GraphQLError | null {
    return refusalOfCost(this.#plan, this.#variables, this.#cost);
  }

  /** Charges a text of the answer. False when the answer is too long. */
  text(chars: number): boolean {
    this.#chars += chars;
    return this.#chars <= GRAPH_LIMITS.answerCharsMax;
  }

  /** Why the answer is not sent; null when it may be. */
  refusalOfText(): GraphQLError | null {
    if (this.text(0)) return null;
    const mebibytes = GRAPH_LIMITS.answerCharsMax / 1024 / 1024;
    const message = `The answer has more than ${mebibytes} MiB of text. Ask for fewer records, or for fewer long texts.`;
    return graphError('COMPLEXITY_LIMIT_EXCEEDED', message);
  }

  /** Charges a list that was read and had been charged as one record. Throws when it is too much to read what is selected of it. */
  read(nodes: readonly FieldNode[], length: number): void {
    const below = { nodes: 0, objects: 0 };
    for (const node of nodes) {
      const plan = this.#plan.unsized.get(node);
      if (plan !== undefined) addTo(below, costOf(plan, this.#variables));
    }
    const more = length - 1;
    this.#cost = {
      nodes: this.#cost.nodes + more * (1 + below.nodes),
      objects: this.#cost.objects + more * (1 + below.objects),
    };
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
  }
}

function refusalOfCost(plan: CostPlan, variables: Variables, cost: Cost): GraphQLError | null {
  const { graphNodesMax: nodesMax, graphObjectsMax: objectsMax } = LIMITS;
  if (cost.nodes <= nodesMax && cost.objects <= objectsMax) return null;
  const [asked, max] = cost.nodes > nodesMax ? [cost.nodes, nodesMax] : [cost.objects, objectsMax];
  const message = `The operation asks for up to ${asked} records, and at most ${max} are allowed. Reduce "first" of ${mostOf(plan, variables)}, or send several requests.`;
  return graphError('COMPLEXITY_LIMIT_EXCEEDED', message, { cost: { ...cost, nodesMax, objectsMax } });
}

/** The path to the list that is asked for most, from field to field. */
function mostOf(plan: SetPlan, variables: Variables): string {
  const known = new Map<SetPlan, Cost>();
  const path: string[] = [];
  let sets: readonly SetPlan[] = [plan];
  while (sets.length > 0) {
    let most: { readonly field: FieldPlan; readonly objects: number } | null = null;
    for (const set of sets) {
      for (const field of set.fields) {
        const { nodes, objects } = costOfField(field, variables, known);
        if (nodes > 0 && objects > (most?.objects ?? 0)) most = { field, objects };
      }
    }
    if (most === null) {
      sets = sets.flatMap((set) => set.fragments).slice(0, FRAGMENTS_SHOWN_MAX);
      continue;
    }
    if (most.field.kind !== 'part') path.push(most.field.name);
    sets = [most.field.below];
  }
  return path.join('.');
}

const FRAGMENTS_SHOWN_MAX = 16;
