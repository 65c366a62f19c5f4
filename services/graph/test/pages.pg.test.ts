import assert from 'node:assert/strict';
import fc from 'fast-check';
import { layoutOf, modelNamed } from '@wts/models';
import { connectionOf, pageStatement, type ConnectionArguments } from '../src/store/connection.ts';
import { StatementWriter } from '../src/store/statement.ts';
import { Records } from './records.ts';

interface Page {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: number;
}

const PAGE = `nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`;
const ARGUMENTS = `$first: Int, $after: String, $last: Int, $before: String, $orderBy: [TaskOrder!], $filter: TaskFilter`;
const GIVEN = `first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy, filter: $filter`;

/** Titles and times with many ties, and values that are missing. */
const TITLES = ['a', 'B', 'b', 'ä', 'Z', '\u{1F6A7}', 'a b', 'A'];
const DAYS = [null, '2026-11-20', '2026-11-21', null];

describe('pages', () => {
  let records: Records;
  let me: string;
  let home: string;
  let project: string;
  const ids: string[] = [];

  before(async () => {
    records = await Records.open('graph-pages');
    me = await records.person();
    home = await records.workspace('One', me);
    const other = await records.workspace('Two', me);
    project = await records.project(home, me);
    const hidden = await records.project(home, me, { members: [me], name: 'Private' });
    const tasks = Array.from({ length: 60 }, (_, index) => {
      const workspaceId = index % 4 === 0 ? other : home;
      const isHidden = index % 7 === 1 && workspaceId === home;
      return {
        model: 'Task',
        values: {
          workspaceId,
          creatorId: me,
          title: TITLES[index % TITLES.length] ?? '',
          deadlineAt: DAYS[index % DAYS.length],
          priority: index % 3,
          projectId: workspaceId === other ? null : isHidden ? hidden : project,
          sortOrder: String(index % 5),
        },
        ...(isHidden ? { groupId: hidden } : {}),
        createdAt: new Date(Date.UTC(2026, 0, 1) + (index % 9)).toISOString(),
      };
    });
    ids.push(...(await records.store(tasks)).map(({ id }) => id));
  });
  after(() => records[Symbol.asyncDispose]());

  const read = async (variables: Readonly<Record<string, unknown>>, inside?: string): Promise<Page> => {
    const field = inside ?? 'tasks';
    const query = `query (${ARGUMENTS}) { ${field === 'tasks' ? '' : `${field} {`} page: tasks(${GIVEN}) { ${PAGE} } ${field === 'tasks' ? '' : '}'} }`;
    const data = await records.data<Record<string, Page & { page: Page }>>(me, query, { variables });
    const [found] = Object.values(data);
    return found === undefined ? assert.fail('no page') : field === 'tasks' ? found : found.page;
  };

  const KEYS = ['createdAt', 'title', 'deadlineAt', 'priority', 'completedAt', 'sortOrder', 'number'] as const;
  const orders = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom('ASC', 'DESC')), {
      maxLength: 3,
      selector: ([key]) => key,
    })
    .map((keys) => keys.map(([key, direction]) => ({ [key]: direction })));

  /** Walks all pages in one direction. */
  const walk = async (
    size: number,
    isBackward: boolean,
    given: Readonly<Record<string, unknown>>,
    inside?: string,
  ): Promise<string[]> => {
    const seen: string[] = [];
    for (let cursor: string | null = null; ;) {
      const bound = cursor === null ? {} : isBackward ? { before: cursor } : { after: cursor };
      const page = await read({ ...given, ...(isBackward ? { last: size } : { first: size }), ...bound }, inside);
      const found = page.nodes.map(({ id }) => id);
      if (isBackward) seen.unshift(...found);
      else seen.push(...found);
      const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
      assert.equal(isBackward ? hasNextPage : hasPreviousPage, cursor !== null);
      if (!(isBackward ? hasPreviousPage : hasNextPage)) return seen;
      assert.equal(found.length, size);
      cursor = isBackward ? startCursor : endCursor;
    }
  };

  it('walked forwards and backwards in any order have each record once, in the same order [graphql.pages.each-once]', () =>
    fc.assert(
      fc.asyncProperty(orders, fc.integer({ min: 1, max: 30 }), async (orderBy, size) => {
        const all = (await read({ first: 100, orderBy })).nodes.map(({ id }) => id);
        assert.deepEqual(all.toSorted(), ids.toSorted());
        assert.deepEqual(await walk(size, false, { orderBy }), all);
        assert.deepEqual(await walk(size, true, { orderBy }), all);
      }),
      { numRuns: 8 },
    ));

  it('inside a record are walked in the same way [graphql.pages.each-once]', async () => {
    const inside = `project(id: "${project}")`;
    await fc.assert(
      fc.asyncProperty(orders, fc.integer({ min: 4, max: 30 }), async (orderBy, size) => {
        const { nodes, totalCount } = await read({ first: 100, orderBy }, inside);
        assert.equal(nodes.length, totalCount);
        const all = nodes.map(({ id }) => id);
        assert.deepEqual(await walk(size, false, { orderBy }, inside), all);
        assert.deepEqual(await walk(size, true, { orderBy }, inside), all);
      }),
      { numRuns: 5 },
    );
  });

  it('are between two cursors where both are given', async () => {
    const { edges } = (
      await records.data<{ tasks: { edges: { cursor: string; node: { id: string } }[] } }>(
        me,
        '{ tasks(first: 20) { edges { cursor node { id } } } }',
      )
    ).tasks;
    const [from, to] = [edges[3], edges[9]].map((edge) => edge?.cursor);
    const between = edges.slice(4, 9).map(({ node }) => node.id);
    assert.deepEqual(
      (await read({ first: 100, after: from, before: to })).nodes.map(({ id }) => id),
      between,
    );
    assert.deepEqual(
      (await read({ last: 3, after: from, before: to })).nodes.map(({ id }) => id),
      between.slice(2),
    );
  });

  it('have records without a value last in both directions', async () => {
    for (const direction of ['ASC', 'DESC']) {
      const { tasks } = await records.data<{ tasks: { nodes: { deadlineAt: string | null }[] } }>(
        me,
        `{ tasks(first: 100, orderBy: {deadlineAt: ${direction}}) { nodes { deadlineAt } } }`,
      );
      const days = tasks.nodes.map(({ deadlineAt }) => deadlineAt);
      const given = days.filter((day) => day !== null);
      assert.deepEqual(days.slice(given.length), Array(days.length - given.length).fill(null));
      assert.deepEqual(given, direction === 'ASC' ? given.toSorted() : given.toSorted().toReversed());
    }
  });

  it('have the same records for a filter in every order, and so has their number', async () => {
    const filter = { or: [{ priority: { eq: 1 } }, { title: { in: ['a', 'B'] } }], workspaceId: { eq: home } };
    const plain = await read({ first: 100, filter });
    assert.ok(plain.nodes.length > 5 && plain.nodes.length < ids.length);
    assert.equal(plain.totalCount, plain.nodes.length);
    const other = await read({ first: 100, filter, orderBy: [{ title: 'ASC' }] });
    assert.deepEqual(other.nodes.map(({ id }) => id).toSorted(), plain.nodes.map(({ id }) => id).toSorted());
    const named = await read({ first: 100, filter: { ...filter, projectId: { in: [project.toUpperCase()] } } });
    assert.ok(named.nodes.length > 0 && named.nodes.length <= plain.nodes.length);
  });

  it('are refused with a code for a wrong size, two sizes, or a cursor of another order [graphql.cursor.forged]', async () => {
    const { endCursor } = (await read({ first: 1 })).pageInfo;
    const bad = [
      { first: 0 },
      { first: 101 },
      { last: 0 },
      { first: -1 },
      { first: 1, last: 1 },
      { after: 'x' },
      { after: '' },
      { after: endCursor, orderBy: [{ title: 'ASC' }] },
      { before: 'WzEsImEiXQ' },
    ];
    for (const variables of bad) {
      const { errors } = await records.ask(me, `query (${ARGUMENTS}) { tasks(${GIVEN}) { nodes { id } } }`, {
        variables,
      });
      assert.equal(errors.length, 1, JSON.stringify(variables));
      assert.equal((errors[0]?.cause as { code?: string } | undefined)?.code, 'validation_failed');
    }
  });
});

describe('an order without an index', () => {
  let records: Records;
  let me: string;
  let project: string;

  before(async function () {
    this.timeout(240_000);
    records = await Records.open('graph-orders');
    me = await records.person();
    const home = await records.workspace('Large', me);
    project = await records.project(home, me);
    const { id } = await records.one({
      model: 'Task',
      values: { workspaceId: home, creatorId: me, title: 'One', priority: 1 },
    });
    // The index of words takes longer than all others, and no list here has words.
    await records.sync.query('drop index sync.tasks_search_keys_idx');
    const { columns } = layoutOf(modelNamed('Task'));
    const given: Readonly<Record<string, string>> = {
      id: 'made.id',
      number: 'model.number + nth',
      title: `'Task ' || nth`,
      created_at: `model.created_at + nth * interval '1 second'`,
      completed_at: `case when nth % 2 = 0 then '2026-01-03Z'::timestamptz - nth * interval '1 second' end`,
      // Cursors have the id of the record.
      record: `replace(replace(replace(model.record::text, model.id::text, made.id::text), '"title":"One"', '"title":"Task ' || nth || '"'), '"completedAt":null',
        '"completedAt":' || case when nth % 2 = 0 then '"' || to_char('2026-01-03'::timestamp - nth * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"' else 'null' end)::json`,
      project_id: `case when nth % 10 = 0 then $2::uuid end`,
    };
    const names = [...columns.map(({ name }) => name), 'workspace_id', 'group_id', 'record'];
    const values = names.map((name) => given[name] ?? `model.${name}`);
    // A role may not work on one statement for long, on a busy machine either.
    for (let from = 1; from < 24_000; from += 8_000) {
      await records.sync.query(
        `insert into sync.tasks (${names.join(', ')}) select ${values.join(', ')} from sync.tasks model,
          generate_series(${from}, ${from + 7_999}) nth,
          lateral (select gen_random_uuid() as id, nth as each) made where model.id = $1`,
        [id, project],
      );
    }
    await records.sync.query('vacuum analyze sync.tasks');
  });
  after(() => records[Symbol.asyncDispose]());

  const READ = `select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int as count
    from pg_stat_xact_user_tables where schemaname = 'sync' and relname = 'tasks'`;

  /** How many rows of the table the page reads, and with which error its statement ends. */
  const rowsRead = async (given: ConnectionArguments): Promise<{ read: number; error: unknown }> => {
    const person = { groups: new Set([me]), gains: new Map<string, bigint>(), at: 0n, floor: 0n, epoch: '' };
    const sql = new StatementWriter({ userId: me, workspaceId: null, person, isLive: true });
    const { text, values } = pageStatement(connectionOf(modelNamed('Task'), given, { selects: () => false }), sql);
    const client = await records.pool.connect();
    try {
      await client.query('begin; set local max_parallel_workers_per_gather = 0; savepoint before_page');
      const count = async (): Promise<number> => (await client.query<{ count: number }>(READ)).rows[0]?.count ?? 0;
      const before = await count();
      const error: unknown = await client.query(text, [...values]).then(
        () => null,
        (cause: unknown) => cause,
      );
      await client.query('rollback to savepoint before_page');
      return { read: (await count()) - before, error };
    } finally {
      await client.query('rollback');
      client.release();
    }
  };

  it('is refused for more matches than may be sorted, which are not read [graphql.limit.sorted]', async () => {
    for (const key of ['title', 'priority', 'updatedAt', 'sortOrder']) {
      const orderBy = [{ [key]: 'ASC' }];
      const { errors } = await records.ask(
        me,
        `query ($orderBy: [TaskOrder!]) { tasks(orderBy: $orderBy) { nodes { id } } }`,
        { variables: { orderBy } },
      );
      assert.equal(errors[0]?.extensions['code'], 'COMPLEXITY_LIMIT_EXCEEDED', key);
      assert.match(errors[0]?.message ?? '', /createdAt alone, .* or filter it, for example by projectId/u);
      const { read, error } = await rowsRead({ orderBy });
      assert.ok(error instanceof Error, key);
      assert.ok(read > 20_000 && read <= 20_100, `${key}: ${read} rows`);
    }
  });

  it('sorts what a filter leaves', async () => {
    const found = await records.data<{ tasks: { nodes: readonly { title: string }[] } }>(
      me,
      `query ($project: ID!) { tasks(first: 3, orderBy: {title: DESC}, filter: {projectId: {eq: $project}}) { nodes { title } } }`,
      { variables: { project } },
    );
    assert.deepEqual(
      found.tasks.nodes.map(({ title }) => title),
      ['Task 9990', 'Task 9980', 'Task 9970'],
    );
  });

  it('leaves pages by creation to their index, whatever their number [graphql.limit.sorted]', async () => {
    for (const direction of ['ASC', 'DESC']) {
      const { read, error } = await rowsRead({ first: 20, orderBy: [{ createdAt: direction }] });
      assert.equal(error, null);
      assert.ok(read > 0 && read <= 100, `${read} rows`);
    }
  });

  it('leaves pages of completed tasks by their completion to their index [graphql.limit.sorted]', async () => {
    const done = { completedAt: { null: false } };
    for (const filter of [
      done,
      { and: [{ projectId: { null: true } }, done] },
      { completedAt: { lt: '2999-01-01T00:00:00.000Z' } },
    ])
      for (const direction of ['ASC', 'DESC']) {
        const { read, error } = await rowsRead({ first: 20, filter, orderBy: [{ completedAt: direction }] });
        assert.equal(error, null);
        assert.ok(read > 0 && read <= 100, `${read} rows`);
      }
    const query = `query ($after: String) { tasks(first: 2, after: $after, orderBy: {completedAt: DESC}, filter: {completedAt: {null: false}}) {
      nodes { title } pageInfo { endCursor } } }`;
    const titles: string[] = [];
    for (let after: string | null = null; titles.length < 4;) {
      const { tasks }: { tasks: { nodes: { title: string }[]; pageInfo: { endCursor: string } } } = await records.data(
        me,
        query,
        {
          variables: { after },
        },
      );
      titles.push(...tasks.nodes.map(({ title }) => title));
      after = tasks.pageInfo.endCursor;
    }
    assert.deepEqual(titles, ['Task 2', 'Task 4', 'Task 6', 'Task 8']);
    assert.ok((await rowsRead({ orderBy: [{ completedAt: 'DESC' }] })).error instanceof Error);
  });
});
