import { modelNamed } from '@wts/models';
import assert from 'node:assert/strict';
import { connectionOf, pageStatement } from '../src/store/connection.ts';
import { searchStatement, wordsOf } from '../src/store/search.ts';
import { StatementWriter, type Statement } from '../src/store/statement.ts';
import { Records } from './records.ts';

const WORDS = ['index', 'deploy', 'cache', 'login', 'billing', 'report', 'queue', 'mobile', 'search', 'import'];

interface Found {
  readonly search: {
    readonly hits: readonly { readonly score: number; readonly record: { readonly title?: string } }[];
  };
}

describe('a search', () => {
  let records: Records;
  let me: string;
  let home: string;
  const wants = { selects: () => false };

  before(async () => {
    records = await Records.open('graph-search');
    me = await records.person('Grace');
    home = await records.workspace('Platform', me);
    const stranger = await records.person();
    const other = await records.workspace('Other', stranger);
    const tasks = Array.from({ length: 20_000 }, (_, index) => ({
      model: 'Task',
      values: {
        workspaceId: index % 2 === 0 ? home : other,
        creatorId: me,
        title: `${WORDS[index % 10] ?? ''} ${WORDS[Math.floor(index / 10) % 10] ?? ''} ${index.toString(36)}`,
      },
    }));
    for (let at = 0; at < tasks.length; at += 5000) await records.store(tasks.slice(at, at + 5000));
    const one = (title: string, more: object = {}): Promise<unknown> =>
      records.one({ model: 'Task', values: { workspaceId: home, creatorId: me, title, ...more } });
    await one('Migrate the database to version 18');
    await one('Ein Straßenfest für Zürich planen');
    await one('100% of 50_000 \\ users');
    await one('Something else', { description: 'The quokka lives on Rottnest' });
    await records.sync.query('vacuum analyze sync.tasks');
  });
  after(() => records[Symbol.asyncDispose]());

  const titles = async (query: string): Promise<(string | undefined)[]> => {
    const { search } = await records.data<Found>(
      me,
      'query ($query: String!) { search(query: $query, types: [Task], first: 5) { hits { score record { ... on Task { title } } } } }',
      { variables: { query } },
    );
    for (const { score } of search.hits) assert.ok(score > 0 && score <= 1);
    return search.hits.map(({ record }) => record.title);
  };

  it('finds words, beginnings of words, parts of titles and words with a slip [graphql.search.visible]', async () => {
    for (const query of [
      'database',
      'DATABASE version',
      'migr data',
      'atabas',
      'migrate databse',
      'databse migrat',
      'Migrate the database to version 18',
    ])
      assert.equal((await titles(query))[0], 'Migrate the database to version 18', query);
    for (const query of ['zürich', 'straßenfest', 'fest für'])
      assert.equal((await titles(query))[0], 'Ein Straßenfest für Zürich planen', query);
    for (const query of ['100%', '50_000', '0% of', '_000 \\'])
      assert.equal((await titles(query))[0], '100% of 50_000 \\ users', query);
    for (const query of ['quokka', 'rottn quok']) assert.deepEqual(await titles(query), ['Something else'], query);
    for (const query of ['xylophone', '%', '___', "' or true --", '!&|:*()<->'])
      assert.ok(!(await titles(query)).includes('Something else'), query);
  });

  it('has the best match first, and is bounded', async () => {
    const { search, tasks } = await records.data<Found & { tasks: { totalCount: number } }>(
      me,
      '{ search(query: "index", first: 100) { hits { score record { id } } } tasks(search: "billing", first: 1) { totalCount nodes { id } } }',
    );
    assert.equal(search.hits.length, 100);
    const scores = search.hits.map(({ score }) => score);
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    );
    assert.ok(tasks.totalCount > 900);
  });

  it('of a common word with a slip gives the newest matches in pages, both ways, and ranks them', async () => {
    const { rows } = await records.sync.query<{ id: string }>(
      `select id from sync.tasks where workspace_id = $1 and title like '%billing%' order by created_at desc, id desc`,
      [home],
    );
    const newest = rows.map(({ id }) => id);
    assert.ok(newest.length > 1_500);
    type Tasks = { tasks: { nodes: { id: string }[]; pageInfo: { endCursor: string; startCursor: string } } };
    const select = 'nodes { id } pageInfo { startCursor endCursor }';
    const read: string[] = [];
    let after: string | null = null;
    let before = '';
    for (let page = 0; page < 3; page += 1) {
      const query = `query ($after: String) { tasks(search: "biling", first: 100, after: $after) { ${select} } }`;
      const { tasks }: Tasks = await records.data<Tasks>(me, query, { variables: { after } });
      read.push(...tasks.nodes.map(({ id }) => id));
      after = tasks.pageInfo.endCursor;
      before = tasks.pageInfo.startCursor;
    }
    assert.deepEqual(read, newest.slice(0, 300));
    const backward = `query ($before: String) { tasks(search: "biling", last: 50, before: $before) { ${select} } }`;
    const { tasks } = await records.data<Tasks>(me, backward, { variables: { before } });
    assert.deepEqual(
      tasks.nodes.map(({ id }) => id),
      newest.slice(150, 200),
    );
    // Too few of the newest records match the filter: the matches are sorted.
    const filtered = `{ tasks(search: "biling", first: 5, filter: {title: {startsWith: "billing index"}}) { ${select} } }`;
    const some = await records.data<Tasks>(me, filtered);
    assert.equal(some.tasks.nodes.length, 5);
    const found = await titles('biling');
    assert.ok(found.length === 5 && found.every((title) => title?.includes('billing')), found.join());
  });

  it('of a common word reads the newest records by the index of their groups, and does not compare all', async () => {
    const person = { groups: new Set([me, home]), gains: new Map<string, bigint>(), at: 0n, floor: 0n, epoch: '' };
    const reader = { userId: me, workspaceId: null, person, isLive: true };
    const words = wordsOf('biling') ?? assert.fail();
    const request = {
      models: [modelNamed('Task')],
      words,
      limit: 20,
      workspaceId: null,
      includeArchived: false,
      wants,
    };
    for (const statement of [
      searchStatement(request, new StatementWriter(reader)),
      pageStatement(connectionOf(modelNamed('Task'), { search: 'biling' }, wants), new StatementWriter(reader)),
    ]) {
      const { text, values } = statement;
      const { rows } = await records.pool.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, timing off, costs off, summary off, buffers off) ${text}`,
        [...values],
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, /Index Only Scan Backward using tasks_group_id_created_at_id_idx/);
      const compared = [...plan.matchAll(/Bitmap Heap Scan on tasks \S+ \(actual rows=([\d.]+)/g)].map(([, count]) =>
        Number(count),
      );
      assert.ok(Math.max(...compared) <= 1_001, plan);
    }
  });

  it('is refused with a code when it is blank, too long, or no text that PostgreSQL can take', async () => {
    for (const query of ['', '  ', 'x'.repeat(201), 'a\0b', '\ud800']) {
      const source = 'query ($query: String!) { search(query: $query) { nodes { id } } }';
      const { errors } = await records.ask(me, source, { variables: { query } });
      assert.equal(
        (errors[0]?.cause as { code?: string } | undefined)?.code,
        'validation_failed',
        JSON.stringify(query),
      );
    }
  });

  it('uses its index, of the workspaces of the reader only [graphql.search.visible]', async () => {
    const person = { groups: new Set([me, home]), gains: new Map<string, bigint>(), at: 0n, floor: 0n, epoch: '' };
    const reader = { userId: me, workspaceId: null, person, isLive: true };
    const words = wordsOf('quokka') ?? assert.fail();
    const request = {
      models: [modelNamed('Task'), modelNamed('Comment')],
      words,
      limit: 20,
      workspaceId: null,
      includeArchived: false,
      wants,
    };
    const connection = connectionOf(modelNamed('Task'), { search: 'quokka', orderBy: [{ title: 'ASC' }] }, wants);
    for (const statement of [
      searchStatement(request, new StatementWriter(reader)),
      pageStatement(connection, new StatementWriter(reader)),
    ]) {
      const plan = await explain(statement);
      assert.match(plan, /Bitmap Index Scan on tasks_search_idx/);
      assert.match(plan, /Index Cond: \(\(workspace_id = ANY/);
      assert.doesNotMatch(plan, /Seq Scan on tasks/);
    }
  });

  it('leaves a page by creation to its index, which it reads in order', async () => {
    const person = { groups: new Set([me, home]), gains: new Map<string, bigint>(), at: 0n, floor: 0n, epoch: '' };
    const sql = new StatementWriter({ userId: me, workspaceId: null, person, isLive: true });
    const plan = await explain(pageStatement(connectionOf(modelNamed('Task'), { first: 20 }, wants), sql));
    assert.match(plan, /Index Scan Backward using tasks_group_id_created_at_id_idx/);
    // Whether the project of a task is archived: one look-up for each record, not all archived projects of the database.
    assert.doesNotMatch(plan, /Seq Scan on (?!workspaces)|hashed/);
    // The deleted workspaces are read once, and the few of this database without an index.
    assert.equal(plan.match(/Seq Scan on workspaces|workspaces_archived_idx/g)?.length, 1);
  });

  const explain = async ({ text, values }: Statement): Promise<string> => {
    const { rows } = await records.pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
});
