import { modelNamed } from '@wts/models';
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { connectionOf, pageStatement, totalStatement } from '../src/store/connection.ts';
import { searchStatement, wordsOf } from '../src/store/search.ts';
import { StatementWriter, type Statement } from '../src/store/statement.ts';
import { Records } from './records.ts';

/** Of titles that are hard to divide into words. */
const PIECES =
  `a b ab rel release rollback zü ö x1 12 3rd foo @ % ½ नमस्ते 1e5 v2.0 user@ex.am /usr/lib <b> &amp; É ﬁx 日本語 ß A ' " \\ - _ .`
    .split(' ')
    .concat(' ', ' ');
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
    const tasks = Array.from({ length: 12_000 }, (_, index) => ({
      model: 'Task',
      values: {
        workspaceId: index % 2 === 0 ? home : other,
        creatorId: me,
        title: `${WORDS[index % 10] ?? ''} ${WORDS[Math.floor(index / 10) % 10] ?? ''} ${index.toString(36)}`,
      },
    }));
    for (let at = 0; at < tasks.length; at += 6000) await records.store(tasks.slice(at, at + 6000));
    const one = (title: string, more: object = {}): Promise<unknown> =>
      records.one({ model: 'Task', values: { workspaceId: home, creatorId: me, title, ...more } });
    await one('Migrate the database to version 18');
    await one('Ein Straßenfest für Zürich planen');
    await one('100% of 50_000 \\ users');
    await one('Something else', { description: 'The quokka lives on Rottnest' });
    await one('Where it is written', {
      description: 'In infra/docs/runbook.md, as some_snake_case or a well-known name, by ann@mail.kyoto.test',
    });
    await one('A walrus for the zoo');
    await one('A muskox for the zoo');
    const secret = await records.project(home, stranger, { members: [stranger] });
    const hidden = Array.from({ length: 2_000 }, (_, index) => ({
      model: 'Task',
      values: { workspaceId: home, projectId: secret, creatorId: stranger, title: `walrus ${index % 50}` },
      groupId: secret,
    }));
    await records.store(hidden);
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
    for (const query of ['runbook', 'snake', 'known', 'infra docs', 'runbook.md', 'kyoto', '@mail.kyoto'])
      assert.deepEqual(await titles(query), ['Where it is written'], query);
    for (const query of ['xylophone', '%', '___', "' or true --", '!&|:*()<->'])
      assert.ok(!(await titles(query)).includes('Something else'), query);
  });

  it('takes texts without blanks in the time of others: the parser of PostgreSQL would read each from every sign on [never.one-takes-all]', async () => {
    for (const [index, signs] of ['a_', 'ab-3f-', '/~', '~/', '/.', './', 'e5@', 'x@y1', '.1e5.1', '<!--'].entries()) {
      const description = `${signs.repeat(Math.floor(49_980 / signs.length))} numbat${index}`;
      await records.one({
        model: 'Task',
        values: { workspaceId: home, creatorId: me, title: `Burrow ${index}`, description },
      });
      assert.deepEqual(await titles(`numbat${index}`), [`Burrow ${index}`]);
    }
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
    assert.ok(newest.length > 1_001);
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
      assert.match(plan, /Bitmap Index Scan on tasks_search_keys_idx/);
      assert.match(plan, /Index Cond: \(search_keys\(group_id, title, description\) @@ /);
      assert.doesNotMatch(plan, /Seq Scan on tasks/);
    }
  });

  it('reads as many rows and pages for a word of 2,000 tasks that the reader does not see as for one of none [graphql.search.time]', async () => {
    const person = { groups: new Set([me, home]), gains: new Map<string, bigint>(), at: 0n, floor: 0n, epoch: '' };
    const reader = { userId: me, workspaceId: null, person, isLive: true };
    const costOf = async (query: string): Promise<{ rows: number; pages: number }[]> => {
      const request = { models: [modelNamed('Task')], limit: 20, workspaceId: null, includeArchived: false, wants };
      const search = { search: query };
      const costs: { rows: number; pages: number }[] = [];
      for (const write of [
        (sql: StatementWriter) => searchStatement({ ...request, words: wordsOf(query) ?? assert.fail() }, sql),
        (sql: StatementWriter) => pageStatement(connectionOf(modelNamed('Task'), search, wants), sql),
        (sql: StatementWriter) => totalStatement(connectionOf(modelNamed('Task'), search, wants), sql),
        (sql: StatementWriter) =>
          pageStatement(connectionOf(modelNamed('Task'), { ...search, orderBy: [{ title: 'ASC' }] }, wants), sql),
      ]) {
        const { text, values } = write(new StatementWriter(reader));
        const client = await records.pool.connect();
        const rowsRead = async (): Promise<number> => {
          const { rows } = await client.query<{ read: number }>(
            `select coalesce(seq_tup_read + idx_tup_fetch, 0)::int as read from pg_stat_xact_user_tables where relname = 'tasks'`,
          );
          return rows[0]?.read ?? 0;
        };
        try {
          await client.query('begin');
          const before = await rowsRead();
          const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
            `explain (analyze, buffers, timing off, format json) ${text}`,
            [...values],
          );
          const { Plan: plan } = rows[0]?.['QUERY PLAN'][0] ?? assert.fail('a plan');
          const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
          costs.push({ rows: (await rowsRead()) - before, pages });
        } finally {
          await client.query('rollback');
          client.release();
        }
      }
      return costs;
    };
    assert.deepEqual(await titles('walrus'), ['A walrus for the zoo']);
    for (const [many, none] of [
      ['walrus', 'muskox'],
      ['walrus for', 'muskox for'],
    ] as const) {
      const [ofMany, ofNone] = [await costOf(many), await costOf(none)];
      for (const [index, { rows, pages }] of ofMany.entries()) {
        const other = ofNone[index] ?? assert.fail('as many statements');
        assert.equal(rows, other.rows, many);
        // The keys of a word may begin on one page of the index and end on the next.
        assert.ok(Math.abs(pages - other.pages) <= 4, JSON.stringify({ many, ofMany, ofNone }));
      }
    }
  });

  it('finds by its index what comparing each record finds [graphql.search.visible]', async () => {
    const owner = await records.person();
    const odd = await records.workspace('Odd', owner);
    const made = fc.sample(fc.array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 6 }), {
      numRuns: 200,
      seed: 7,
    });
    await records.store(
      made.map((pieces, index) => {
        const description = index % 3 === 0 ? (made[index - 1] ?? pieces).join(' ') : null;
        return {
          model: 'Task',
          values: { workspaceId: odd, creatorId: owner, title: `t${pieces.join('')}`, description },
        };
      }),
    );
    const parts = made.map((pieces) => pieces.join('').slice(1, 12).trim());
    const searches = parts.filter((text) => text !== '').slice(0, 50);
    for (const search of searches) {
      const { text, query, long } = wordsOf(search) ?? assert.fail();
      const compared = await records.pool.query<{ count: number }>(
        `select count(*)::int as count from sync.tasks where workspace_id = $1 and (title ilike $2
          or coalesce(to_tsvector('simple', translate(title || ' ' || coalesce(description, ''), '_-/.@', '     ')) @@ to_tsquery('simple', $3), false)
          or cardinality($4::text[]) > 0 and (select bool_and(word operator(public.<%) title) from unnest($4::text[]) word))`,
        [odd, `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`, query, long],
      );
      const { tasks } = await records.data<{ tasks: { totalCount: number } }>(
        owner,
        'query ($search: String!) { tasks(search: $search, first: 1) { totalCount } }',
        { variables: { search } },
      );
      assert.equal(tasks.totalCount, compared.rows[0]?.count, JSON.stringify(search));
    }
  });

  it('finds a task in the project that it moved to, for its members alone [graphql.search.visible]', async () => {
    const [owner, other] = [await records.person(), await records.person()];
    const shared = await records.workspace('Shared', owner, other);
    const secret = await records.project(shared, owner, { members: [owner] });
    const { id } = await records.one({
      model: 'Task',
      values: { workspaceId: shared, creatorId: owner, title: 'Xenon lamp' },
    });
    const found = async (who: string): Promise<number> =>
      (await records.data<{ tasks: { totalCount: number } }>(who, '{ tasks(search: "xenon") { totalCount } }')).tasks
        .totalCount;
    assert.deepEqual([await found(owner), await found(other)], [1, 1]);
    await records.sync.query('update sync.tasks set group_id = $1, project_id = $1 where id = $2', [secret, id]);
    assert.deepEqual([await found(owner), await found(other)], [1, 0]);
    await records.sync.query('update sync.tasks set group_id = $1, project_id = null where id = $2', [shared, id]);
    assert.deepEqual([await found(owner), await found(other)], [1, 1]);
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
