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

/**
 * `list`: a list of `count` records. `unsized`: a list without an argument for its size, which is charged as one record before it is
 * read, and as what it is after. `single`: one record. `part`: a part of the object around it, such as `edges`.
 */
type FieldPlan =
  | { readonly kind: 'list'; readonly name: string; readonly count: Count; readonly below: SetPlan }
  | { readonly kind: 'unsized'; readonly name: string; readonly below: SetPlan }
  | { readonly kind: 'single'; readonly name: string; readonly below: SetPlan }
  | { readonly kind: 'part'; readonly name: string; readonly below: SetPlan };

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

const NOTHING: Cost = { nodes: 0, objects: 0 };

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
    const known = this.#planned.get(name);
    if (known !== undefined) return known;
    const fragment = this.#fragments[name];
    if (fragment === undefined) throw new Error(`no fragment ${name}`);
    const plan = this.set(this.#composite(fragment.typeCondition.name.value), fragment.selectionSet);
    this.#planned.set(name, plan);
    return plan;
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
    if (PARTS.test(parent.name)) return { kind: 'part', name, below };
    const count = this.#count(field, node);
    if (count !== null) return { kind: 'list', name, count, below };
    if (!isList(field)) return { kind: 'single', name, below };
    this.unsized.set(node, below);
    return { kind: 'unsized', name, below };
  }

  /** By the arguments that the field declares. Null without one for its size. */
  #count(field: GraphQLField<unknown, unknown>, node: FieldNode): Count | null {
    const declares = (name: string): boolean => field.args.some((one) => one.name === name);
    if (declares('first')) {
      const [first, last] = [this.#given(node, 'first'), this.#given(node, 'last')];
      if (typeof first !== 'function' && typeof last !== 'function') return pageOf(first ?? last);
      return (variables) => pageOf(valueOf(first, variables) ?? valueOf(last, variables));
    }
    // A batch returns a record for each of its items.
    const items = ['ids', 'inputs'].find(declares);
    if (items !== undefined) {
      const given = this.#given(node, items);
      return typeof given === 'function' ? (variables) => lengthOf(given(variables)) : lengthOf(given);
    }
    if (declares('limit')) {
      const limit = this.#given(node, 'limit');
      return typeof limit === 'function' ? (variables) => listOf(limit(variables)) : listOf(limit);
    }
    return null;
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

/** The arguments for the size of a list. */
const SIZES: ReadonlySet<string> = new Set(['first', 'ids', 'inputs', 'limit']);

/** Whether a field is a list of records whose size only reading shows. */
export function isUnsized(parent: string, field: GraphQLField<unknown, unknown>): boolean {
  if (parent.startsWith('__') || PARTS.test(parent) || !isList(field) || !isCompositeType(getNamedType(field.type)))
    return false;
  return !field.args.some(({ name }) => SIZES.has(name));
}

/** What the readers of a literal need: a whole number, or the length of a list. */
function literalOf(value: ValueNode): number | readonly ValueNode[] | undefined {
  if (value.kind === Kind.INT) return Number(value.value);
  return value.kind === Kind.LIST ? value.values : undefined;
}

/** A wrong number is refused when the field runs. */
function pageOf(value: unknown): number {
  if (typeof value !== 'number' || Number.isNaN(value)) return LIMITS.graphPageDefault;
  return Math.min(Math.max(value, 0), LIMITS.graphPageMax);
}

function listOf(value: unknown): number {
  if (typeof value !== 'number' || Number.isNaN(value)) return LIMITS.listPageDefault;
  return Math.min(Math.max(value, 0), LIMITS.listPageMax);
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}

function isConstant({ fields, fragments }: SetPlan): boolean {
  return (
    fields.every(
      (field) => field.below.constant !== null && (field.kind !== 'list' || typeof field.count === 'number'),
    ) && fragments.every((fragment) => fragment.constant !== null)
  );
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
  let { nodes, objects } = NOTHING;
  for (const field of plan.fields) {
    const cost = costOfField(field, variables, known);
    nodes += cost.nodes;
    objects += cost.objects;
  }
  for (const fragment of plan.fragments) {
    const cost = add(fragment, variables, known);
    nodes += cost.nodes;
    objects += cost.objects;
  }
  const cost = { nodes, objects };
  known.set(plan, cost);
  return cost;
}

function costOfField(field: FieldPlan, variables: Variables, known: Map<SetPlan, Cost>): Cost {
  const below = add(field.below, variables, known);
  if (field.kind === 'part') return below;
  if (field.kind === 'single') return { nodes: below.nodes, objects: below.objects + 1 };
  const count = field.kind === 'unsized' ? 1 : numberOf(field.count, variables);
  return { nodes: count * (1 + below.nodes), objects: count * (1 + below.objects) };
}

function numberOf(count: Count, variables: Variables): number {
  return typeof count === 'number' ? count : count(variables);
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
    let { nodes: below, objects } = NOTHING;
    for (const node of nodes) {
      const plan = this.#plan.unsized.get(node);
      if (plan === undefined) continue;
      const cost = costOf(plan, this.#variables);
      below += cost.nodes;
      objects += cost.objects;
    }
    const more = length - 1;
    this.#cost = { nodes: this.#cost.nodes + more * (1 + below), objects: this.#cost.objects + more * (1 + objects) };
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
