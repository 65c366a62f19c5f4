import { inversesOf, MODELS, modelNamed, relationsOf, singularOf, type Model } from '@wts/models';
import { Fault } from '@wts/contracts';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { execute, parse, validate, validateExecutionArgs, type ExecutionResult } from 'graphql';
import type { RequestContext } from '../src/graphql/request-context.ts';
import { Answers, type AnswerBytes } from '../src/domain/answer-bytes.ts';
import { answerDirectly, NOT_DIRECT, type DirectAnswer, type NotDirect } from '../src/graphql/direct.ts';
import { graphError } from '../src/domain/errors.ts';
import { runOperation, type PreparedOperation } from '../src/graphql/execute.ts';
import { SCHEMA } from '../src/graphql/schema.ts';
import { fieldsOf } from '../src/domain/fields.ts';
import { Reads } from '../src/queries/reads.ts';
import { Records } from './records.ts';

/** Executed by graphql-js in one turn, and charged nothing. */
const FREE = { cost: { nodes: 0, objects: 0 }, read: () => undefined, refusalOfText: () => null, text: () => true };
const bytesOf = (): AnswerBytes => new Answers().open('test');

/** Names like those that a statement has for its own rows and columns: an answer may have them too. */
const NAMES =
  'listed node page_info connection projects_3 t page tasks_1 project_2 found nth near frozen key_created_at'.split(
    ' ',
  );

describe('a direct answer', () => {
  let records: Records;
  let me: string;
  let home: string;
  let taskIds: string[];
  before(async () => {
    records = await Records.open('graph-direct');
    me = await records.person('Ada "the" Önd\n\u0001');
    const other = await records.person('Bob');
    const gone = await records.person('Gone');
    home = await records.workspace('Home', me, other);
    const foreign = await records.workspace('Foreign', other);
    await records.sync.query(
      `insert into sync.frozen_people (user_id, group_id, frozen_at, record)
         select id, $2, now(), record from sync.users where id = $1`,
      [gone, home],
    );
    const projects = [
      await records.project(home, me, { name: 'Open', leadId: other }),
      await records.project(home, other, { name: 'Mine', members: [me, other] }),
      await records.project(home, other, { name: 'Theirs', members: [other] }),
      await records.project(home, me, { name: 'Old' }),
    ];
    await records.sync.query(
      `update sync.projects set archived_at = '2026-11-21T09:00:00.120Z',
         record = (record::jsonb || '{"archivedAt": "2026-11-21T09:00:00.120Z"}')::json where id = $1`,
      [projects[3]],
    );
    const labels = await records.store(
      ['a', 'b', 'c'].map((name) => ({ model: 'Label', values: { workspaceId: home, name } })),
    );
    const privateIds = new Set([projects[1], projects[2]]);
    const tasks = await records.store(
      Array.from({ length: 24 }, (_, index) => {
        const projectId = projects[index % 5] ?? null;
        const workspaceId = index === 23 ? foreign : home;
        const isPrivate = projectId !== null && privateIds.has(projectId) && index !== 23;
        return {
          model: 'Task',
          values: {
            workspaceId,
            creatorId: [me, other, gone][index % 3],
            assigneeId: [me, gone, null][index % 3],
            title: `Task ${index} "quoted" \\ \t \u2028 ü ${'word '.repeat(index % 3)}`,
            description: index % 2 === 0 ? null : 'x'.repeat(index * 300),
            priority: index % 4,
            projectId: index === 23 ? null : projectId,
            labelIds: labels.slice(0, index % 4).map(({ id }) => id),
            deadlineAt: index % 3 === 0 ? '2026-11-30' : null,
            completedAt: index % 4 === 0 ? null : `2026-11-0${(index % 3) + 1}T09:00:00.120Z`,
          },
          ...(isPrivate ? { groupId: projectId } : {}),
          archivedAt: index % 7 === 6 ? '2026-11-21T09:00:00.120Z' : null,
        };
      }),
    );
    taskIds = tasks.map(({ id }) => id);
    await records.store(
      tasks.flatMap(({ id: taskId }, index) =>
        Array.from({ length: index % 4 }, (_, nth) => ({
          model: 'Comment',
          values: { workspaceId: home, taskId, authorId: [me, other, gone][nth] ?? me, body: `Comment ${nth}` },
        })),
      ),
    );
  });
  after(() => records[Symbol.asyncDispose]());

  function contextOf(userId = me): RequestContext {
    const principal = { userId, scopes: ['read' as const], credential: { kind: 'jwt' as const, id: 'test' } };
    const caller = { principal, requestId: 'test', signal: new AbortController().signal, bytes: bytesOf() };
    return { ...caller, reads: new Reads(records.sources, caller), charge: FREE } as unknown as RequestContext;
  }

  /** The answer of both ways. */
  async function both(
    query: string,
    variables: Record<string, unknown> = {},
    userId: string = me,
  ): Promise<[DirectAnswer, ExecutionResult]> {
    const document = parse(query);
    assert.deepEqual(validate(SCHEMA, document), [], query);
    const contextValue = contextOf(userId);
    const validated = validateExecutionArgs({ schema: SCHEMA, document, contextValue, variableValues: variables });
    assert.ok('operation' in validated, JSON.stringify(validated));
    const direct = await answerDirectly(validated, contextValue);
    const general = await execute({
      schema: SCHEMA,
      document,
      contextValue: contextOf(userId),
      variableValues: variables,
    });
    return [direct, general];
  }

  async function assertEqual(query: string, variables: Record<string, unknown> = {}): Promise<boolean> {
    const [direct, { data, errors }] = await both(query, variables);
    if (!direct.ok) return false;
    assert.deepEqual(errors, undefined, query);
    // The same values under the same names, in the same order.
    assert.equal(JSON.stringify(JSON.parse(direct.text)), JSON.stringify(data), query);
    return true;
  }

  it('is the answer of graphql-js for any operation that has one [graphql.answers.direct]', async () => {
    let direct = 0;
    let all = 0;
    const property = fc.asyncProperty(operation(), async ({ query, variables }) => {
      all += 1;
      if (await assertEqual(query, variables)) direct += 1;
    });
    await fc.assert(property, { numRuns: 50 });
    assert.ok(direct > all / 2, `${direct} of ${all} are direct`);
  });

  it('is the answer of graphql-js for names that the statement could have itself [graphql.answers.direct]', async () => {
    const [id] = taskIds;
    for (const name of NAMES)
      for (const query of [
        `{ tasks { nodes { ${name}: title id } } }`,
        `{ tasks { nodes { id project { ${name}: name id } comments { ${name}: nodes { ${name}: body } } } } }`,
        `{ task(id: "${id}") { ${name}: description } }`,
        `{ tasks { edges { node { ${name}: id } } } }`,
        `{ tasks { edges { ${name}: cursor edge: node { id } } } }`,
        `{ tasks { edges { ${name}: node { id } } totalCount } }`,
        `{ tasks { ${name}: totalCount } }`,
        `{ tasks { ${name}: pageInfo { ${name}: hasNextPage startCursor } nodes { ${name}: id } edges { ${name}: cursor } } }`,
      ])
        assert.ok(await assertEqual(query), query);
  });

  it('is one statement for all levels', async () => {
    const query = `{ tasks(first: 20) { nodes { title project { name lead { name } } comments(first: 5) { nodes { body author { name } } } } } }`;
    await both(query);
    let count = 0;
    const { statements } = records.sources;
    const rows = statements.rows.bind(statements);
    statements.rows = (caller, pool, statement) => {
      count += 1;
      return rows(caller, pool, statement);
    };
    try {
      const document = parse(query);
      const contextValue = contextOf();
      const validated = validateExecutionArgs({ schema: SCHEMA, document, contextValue });
      assert.ok('operation' in validated);
      assert.ok((await answerDirectly(validated, contextValue)).ok);
    } finally {
      statements.rows = rows;
    }
    assert.equal(count, 1);
  });

  it('pages through all records with its cursors, in both ways alternately', async () => {
    interface Tasks {
      readonly tasks: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
    }
    for (const given of [
      'orderBy: [{deadlineAt: ASC}, {title: DESC}]',
      'orderBy: {completedAt: DESC}, filter: {completedAt: {null: false}}',
    ]) {
      const query = `query ($after: String) { tasks(first: 3, after: $after, includeArchived: true, ${given})
        { nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
      const seen: string[] = [];
      for (let after: string | null = null; ;) {
        assert.ok(await assertEqual(query, { after }));
        const [direct] = await both(query, { after });
        const { nodes, pageInfo } = (JSON.parse(direct.ok ? direct.text : '') as Tasks).tasks;
        seen.push(...nodes.map(({ id }) => id));
        if (!pageInfo.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      assert.equal(new Set(seen).size, seen.length);
      assert.ok(seen.length > 12 && seen.length < taskIds.length);
    }
  });

  it('is left to graphql-js for everything that has a reason, which is counted', async () => {
    for (const [query, message] of [
      ['{ tasks(first: 0) { nodes { id } } }', /first must be 1/],
      ['{ tasks(first: 1, after: "x") { nodes { id } } }', /cursor/],
      ['{ task(id: "x") { id } }', /UUID/],
    ] as const) {
      const [direct, { errors }] = await both(query);
      assert.deepEqual(direct, { ok: false, reason: 'argument' });
      assert.match(errors?.[0]?.message ?? '', message);
    }
    const many = Array.from({ length: 25 }, (_, at) => `a${at}: project { lead { id } }`).join(' ');
    const cases: Partial<Record<NotDirect, string>> = {
      directive: '{ tasks { nodes { id @include(if: true) } } }',
      backward: '{ tasks(last: 2) { nodes { id } } }',
      root: '{ viewer { id } }',
      interface: '{ tasks { nodes { ... on Node { id } } } }',
      computed: '{ tasks { nodes { key } } }',
      repeated: '{ tasks { nodes { workspace { tasks { totalCount } } } } }',
      pages: '{ tasks { nodes { id } more: nodes { id } } }',
      size: `{ tasks { nodes { ${many} } } }`,
    };
    for (const [reason, query] of Object.entries(cases))
      assert.deepEqual((await both(query))[0], { ok: false, reason }, query);
    const busy = await records.person('Busy');
    await records.workspace('Many', busy);
    for (let count = 0; count < 64; count += 1) await records.workspace(`w${count}`, busy);
    assert.deepEqual((await both('{ tasks { nodes { id } } }', {}, busy))[0], { ok: false, reason: 'groups' });
    const rest = Object.keys(NOT_DIRECT).filter((reason) => !(reason in cases));
    assert.deepEqual(rest, ['mutation', 'argument', 'groups', 'statement']);
  });

  it('is left to graphql-js when its statement fails, and ends with the request', async () => {
    const { statements } = records.sources;
    const rows = statements.rows.bind(statements);
    const query = '{ tasks { nodes { id } } }';
    statements.rows = () => Promise.reject(new Error('down'));
    try {
      const [direct, { errors }] = await both(query);
      assert.deepEqual(direct, { ok: false, reason: 'statement' });
      assert.deepEqual(errors?.[0]?.path, ['tasks']);
    } finally {
      statements.rows = rows;
    }
  });

  it('ends without graphql-js when the request may not read more', async () => {
    const { statements } = records.sources;
    const rows = statements.rows.bind(statements);
    try {
      for (const [error, code] of [
        [new Fault('unavailable', { message: 'Too much', retryAfterSeconds: 3 }), 'UNAVAILABLE'],
        [graphError('COMPLEXITY_LIMIT_EXCEEDED', 'Too large'), 'COMPLEXITY_LIMIT_EXCEEDED'],
      ] as const) {
        let count = 0;
        statements.rows = () => {
          count += 1;
          return Promise.reject(error);
        };
        const context = contextOf();
        const document = parse('{ tasks { nodes { id } } }');
        const validated = validateExecutionArgs({ schema: SCHEMA, document, contextValue: context });
        const { data, result } = await runOperation({ validated, context } as unknown as PreparedOperation);
        assert.deepEqual([data, result.data, count], [null, null, 1]);
        assert.deepEqual(
          result.errors?.map(({ message, extensions }) => [message, extensions['code'], extensions['requestId']]),
          [[error.message, code, 'test']],
        );
      }
    } finally {
      statements.rows = rows;
    }
  });

  interface Operation {
    readonly query: string;
    readonly variables: Record<string, unknown>;
  }

  /** Any selection of a few levels over the models with the most relations. */
  function operation(): fc.Arbitrary<Operation> {
    const tree = fc.letrec<{ bits: number[] }>(() => ({ bits: fc.array(fc.nat(), { minLength: 60, maxLength: 60 }) }));
    return tree.bits.map((bits) => new Drawn(bits).operation());
  }

  /** Draws an operation from numbers. */
  class Drawn {
    readonly #bits: readonly number[];
    #at = 0;
    readonly #variables: Record<string, unknown> = {};
    readonly #declared: string[] = [];

    constructor(bits: readonly number[]) {
      this.#bits = bits;
    }

    operation(): Operation {
      const roots = Array.from({ length: 1 + this.#draw(2) }, (_, index) => `r${index}: ${this.#root()}`);
      const variables = this.#declared.length === 0 ? '' : `(${this.#declared.join(', ')})`;
      return { query: `query ${variables} { ${roots.join(' ')} }`, variables: this.#variables };
    }

    #draw(below: number): number {
      this.#at += 1;
      return below === 0 ? 0 : (this.#bits[this.#at % this.#bits.length] ?? 0) % below;
    }

    #one<T>(list: readonly T[]): T {
      return list[this.#draw(list.length)] ?? assert.fail('an empty list');
    }

    #root(): string {
      const models = ['Task', 'Task', 'Comment', 'Project', 'User', 'Label'].map(modelNamed);
      const model = this.#draw(8) === 7 ? this.#one(MODELS) : this.#one(models);
      if (this.#draw(6) > 0) return `${model.plural}${this.#connection(model, 3)}`;
      const id = model.name === 'User' ? me : this.#one(taskIds);
      return `${singularOf(model)}(id: "${id}") ${this.#record(model, 2)}`;
    }

    #connection(model: Model, levels: number): string {
      const given = [`first: ${this.#number(1 + this.#draw(6))}`];
      if (model.name === 'Task' && this.#draw(3) === 0) given.push(`filter: ${this.#filter()}`);
      if (this.#draw(4) === 0) given.push('orderBy: [{createdAt: ASC}]');
      if (model.name === 'Task' && this.#draw(5) === 0) given.push('orderBy: [{priority: DESC}, {title: ASC}]');
      if (model.archivable && this.#draw(4) === 0) given.push('includeArchived: true');
      if (model.search.length > 0 && this.#draw(6) === 0) given.push('search: "word"');
      const unique = [...new Map(given.map((one) => [one.split(':', 1)[0], one])).values()];
      const parts = [
        ...(this.#draw(4) > 0 ? [`nodes ${this.#record(model, levels - 1)}`] : []),
        ...(this.#draw(4) === 0
          ? [
              `edges { ${this.#draw(2) === 0 ? 'cursor node' : `${this.#one(NAMES)}: cursor edge: node`} ${this.#record(model, levels - 1)} }`,
            ]
          : []),
        ...(this.#draw(3) === 0
          ? [`pageInfo { ${this.#as()}hasNextPage hasPreviousPage startCursor end: endCursor }`]
          : []),
        ...(this.#draw(4) === 0 ? [`${this.#as()}totalCount`] : []),
        ...(this.#draw(8) === 0 ? ['__typename'] : []),
      ];
      return `(${unique.join(', ')}) { ${parts.length === 0 ? 'totalCount' : parts.join(' ')} }`;
    }

    #record(model: Model, levels: number): string {
      const fields = fieldsOf(model).map(([name]) => name);
      const parts = Array.from({ length: 1 + this.#draw(5) }, () => this.#one(fields));
      if (this.#draw(5) === 0) parts.push(`${model.name.toLowerCase()}Name: ${this.#one(fields)}`);
      if (this.#draw(3) === 0) parts.push(`${this.#one(NAMES)}: ${this.#one(fields)}`);
      if (this.#draw(6) === 0) parts.push('__typename');
      if (this.#draw(6) === 0) parts.push(`... on ${model.name} { id ${this.#one(fields)} }`);
      if (levels > 0) {
        const relations = relationsOf(model);
        const inverses = inversesOf(model);
        if (relations.length > 0 && this.#draw(2) === 0) {
          const { name, target, many } = this.#one(relations);
          parts.push(
            many ? `${name}${this.#connection(target, levels - 1)}` : `${name} ${this.#record(target, levels - 1)}`,
          );
        }
        if (inverses.length > 0 && this.#draw(2) === 0) {
          const { name, source } = this.#one(inverses);
          parts.push(`${name}${this.#connection(source, levels - 1)}`);
        }
      }
      return `{ ${[...new Set(parts)].join(' ')} }`;
    }

    /** A name for a field, or none. */
    #as(): string {
      return this.#draw(2) === 0 ? `${this.#one(NAMES)}: ` : '';
    }

    #filter(): string {
      return this.#one([
        () => `{ workspaceId: { eq: ${this.#variable('ID', home)} } }`,
        () => `{ workspaceId: { eq: "${home}" }, priority: { in: [1, 2] } }`,
        () => `{ or: [{ priority: { gte: ${this.#number(2)} } }, { assigneeId: { null: true } }] }`,
        () => `{ project: { name: { startsWith: "O" } } }`,
        () => `{ deadlineAt: { lte: "2026-12-01" } }`,
        () => `{ comments: { some: { body: { contains: "1" } } } }`,
      ])();
    }

    #number(value: number): string {
      return this.#draw(3) === 0 ? this.#variable('Int', value) : String(value);
    }

    #variable(type: string, value: unknown): string {
      const name = `v${this.#declared.length}`;
      this.#declared.push(`$${name}: ${type}`);
      this.#variables[name] = value;
      return `$${name}`;
    }
  }
});
