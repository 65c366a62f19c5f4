import assert from 'node:assert/strict';
import { buildSchema, GraphQLError, Kind, parse, validate } from 'graphql';
import type { DocumentNode, FieldNode, OperationDefinitionNode } from 'graphql';
import { fragmentsOf } from '../selections.ts';
import { Charge, costOf, planCost, type Cost, type CostPlan } from './cost.ts';

const schema = buildSchema(`
  type Query { tasks(first: Int, last: Int): TaskConnection! task(id: ID!): Task nodes(ids: [ID!]!): [Node]! workspaces: [Workspace!]! privateProjects(limit: Int): PrivateProjectPage! search(first: Int): SearchResult! }
  type Mutation { taskBatchUpdate(ids: [ID!]!): TaskBatchPayload! taskBatchCreate(inputs: [TaskInput!]!): TaskBatchPayload! }
  input TaskInput { title: String }
  interface Node { id: ID! }
  type PrivateProjectPage { nodes: [Task!]! }
  type SearchResult { hits: [SearchHit!]! nodes: [Node!]! }
  type SearchHit { score: Float! record: Node! }
  type TaskBatchPayload { tasks: [Task!]! }
  type TaskConnection { edges: [TaskEdge!]! nodes: [Task!]! totalCount: Int! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! }
  type TaskEdge { node: Task! cursor: String! }
  type Task implements Node { id: ID! project: Task comments(first: Int): TaskConnection! }
  type Workspace { id: ID! tasks(first: Int): TaskConnection! }
`);

const planOf = (text: string): CostPlan => planOfAst(parse(text));

function planOfAst(ast: DocumentNode): CostPlan {
  assert.deepEqual(validate(schema, ast), []);
  const operation = ast.definitions.find(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
  );
  assert.ok(operation);
  return planCost(schema, operation, fragmentsOf(ast));
}

const costFor = (text: string, variables: Readonly<Record<string, unknown>> = {}): Cost =>
  costOf(planOf(text), variables);
const nodesOf = (text: string, variables: Readonly<Record<string, unknown>> = {}): number =>
  costFor(text, variables).nodes;

describe('the cost of an operation', () => {
  it('is nothing without a list', () =>
    assert.deepEqual(costFor('{ task(id: 1) { id project { id } } __typename }'), { nodes: 0, objects: 2 }));

  it('is the size of its lists, once for nodes and edges', () => {
    assert.equal(
      nodesOf('{ tasks(first: 20) { nodes { id } edges { node { id } } totalCount pageInfo { hasNextPage } } }'),
      20,
    );
    assert.equal(nodesOf('{ tasks { nodes { id } } }'), 50);
    assert.equal(nodesOf('{ tasks(last: 7) { nodes { id } } }'), 7);
    assert.equal(nodesOf('{ search(first: 5) { hits { record { id } } nodes { id } } }'), 5);
    assert.equal(nodesOf('{ privateProjects { nodes { id } } }'), 100);
    assert.equal(nodesOf('{ privateProjects(limit: 900) { nodes { id } } }'), 500);
    assert.equal(nodesOf('query ($n: Int) { privateProjects(limit: $n) { nodes { id } } }', { n: 3 }), 3);
  });

  it('is that of `last` when `first` is a variable without a value', () => {
    const both = 'query ($first: Int, $last: Int) { tasks(first: $first, last: $last) { nodes { id } } }';
    assert.equal(nodesOf(both, { first: null, last: 100 }), 100);
    assert.equal(nodesOf(both, { last: 7 }), 7);
    assert.equal(nodesOf(both, { first: 3, last: null }), 3);
    assert.equal(nodesOf(both), 50);
    assert.equal(nodesOf('query ($first: Int) { tasks(first: $first, last: 100) { nodes { id } } }'), 100);
  });

  it('multiplies lists inside lists, through every part and fragment', () => {
    assert.equal(nodesOf('{ tasks(first: 10) { nodes { comments(first: 5) { nodes { id } } } } }'), 60);
    assert.equal(
      nodesOf(
        '{ tasks(first: 10) { edges { node { ...F } } } } fragment F on Task { project { comments(first: 5) { nodes { id } } } }',
      ),
      60,
    );
    assert.equal(
      nodesOf('{ tasks(first: 10) { nodes { ... on Node { ... on Task { comments(first: 5) { nodes { id } } } } } } }'),
      60,
    );
  });

  it('takes the values of variables, their defaults, and the default of the field [graphql.limit.cost]', () => {
    const text = 'query ($first: Int = 20) { tasks(first: $first) { nodes { id } } }';
    assert.equal(nodesOf(text, { first: 3 }), 3);
    assert.equal(nodesOf(text), 20);
    assert.equal(nodesOf(text, { first: null }), 50);
    assert.equal(nodesOf('query ($first: Int) { tasks(first: $first) { nodes { id } } }'), 50);
    assert.equal(nodesOf('{ tasks(first: null) { nodes { id } } }'), 50);
  });

  it('takes wrong numbers for what the field would allow, because the field refuses them', () => {
    assert.equal(nodesOf('{ tasks(first: 100000) { nodes { id } } }'), 100);
    assert.equal(nodesOf('{ tasks(first: -1) { nodes { id } } }'), 0);
    const text = 'query ($first: Int) { tasks(first: $first) { nodes { id } } }';
    assert.equal(nodesOf(text, { first: 1e9 }), 100);
    assert.equal(nodesOf(text, { first: Number.NaN }), 50);
  });

  it('counts ids, and the items of a batch', () => {
    assert.equal(nodesOf('{ nodes(ids: [1, 2, 3]) { id } }'), 3);
    assert.equal(nodesOf('{ nodes(ids: 1) { id } }'), 1);
    assert.equal(nodesOf('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ['a', 'b'] }), 2);
    const created =
      'mutation ($of: [TaskInput!]!) { taskBatchCreate(inputs: $of) { tasks { comments(first: 10) { nodes { id } } } } }';
    assert.equal(nodesOf(created, { of: [{}, {}, {}] }), 33);
    assert.equal(
      nodesOf('mutation { taskBatchUpdate(ids: [1, 2]) { tasks { comments(first: 10) { nodes { id } } } } }'),
      22,
    );
  });

  it('is computed once for a fragment, however often it is spread', () => {
    const fragments = Array.from(
      { length: 40 },
      (_, at) => `fragment F${at} on Task { project { ...F${at + 1} } a${at}: project { ...F${at + 1} } }`,
    );
    const text = `query ($first: Int) { task(id: 1) { ...F0 } } ${fragments.join(' ')} fragment F40 on Task { comments(first: $first) { nodes { id } } }`;
    assert.equal(nodesOf(text, { first: 1 }), 2 ** 40);
  });

  it('over the budget is refused, with the cost and the list to reduce [graphql.limit.cost]', () => {
    const text =
      'query ($first: Int) { tasks(first: 100) { nodes { comments(first: $first) { nodes { comments(first: 2) { nodes { id } } } } } } }';
    const plan = planOf(text);
    const refused = (first: number): ReturnType<Charge['refusal']> => new Charge(plan, { first }).refusal();
    assert.equal(refused(33), null);
    const refusal = refused(34);
    assert.equal(refusal?.extensions.code, 'COMPLEXITY_LIMIT_EXCEEDED');
    assert.match(
      refusal?.message ?? '',
      /up to 10300 records, and at most 10000 .* "first" of tasks\.comments\.comments/,
    );
    assert.deepEqual(refusal?.extensions['cost'], {
      nodes: 10_300,
      nodesMax: 10_000,
      objects: 10_300,
      objectsMax: 50_000,
    });
  });

  it('of a list without a size is one record before it is read, and what it is after [graphql.limit.cost]', () => {
    const ast = parse(
      '{ workspaces { ...F } } fragment F on Workspace { tasks(first: 100) { nodes { project { id } } } }',
    );
    const plan = planOfAst(ast);
    const nodes = ast.definitions.flatMap((one) =>
      one.kind === Kind.OPERATION_DEFINITION ? (one.selectionSet.selections as FieldNode[]) : [],
    );
    const charge = new Charge(plan, {});
    assert.deepEqual(charge.cost, { nodes: 101, objects: 201 });
    charge.read(nodes, 3);
    assert.deepEqual(charge.cost, { nodes: 303, objects: 603 });
    const empty = new Charge(plan, {});
    empty.read(nodes, 0);
    assert.deepEqual(empty.cost, { nodes: 0, objects: 0 });
    assert.throws(
      () => new Charge(plan, {}).read(nodes, 100),
      (error) => error instanceof GraphQLError && error.extensions.code === 'COMPLEXITY_LIMIT_EXCEEDED',
    );
  });

  it('bounds single records too', () => {
    const single = Array.from({ length: 8 }, (_, at) => `p${at}: project { id }`).join(' ');
    const plan = planOf(`{ tasks(first: 100) { nodes { comments(first: 98) { nodes { ${single} } } } } }`);
    const cost = costOf(plan, {});
    assert.deepEqual(cost, { nodes: 9900, objects: 88_300 });
    assert.equal(new Charge(plan, {}).refusal()?.extensions.code, 'COMPLEXITY_LIMIT_EXCEEDED');
  });
});
