import assert from 'node:assert/strict';
import { Records } from './records.ts';
import { codesOf, personWith, TestGraph } from './test-graph.ts';

const TASKS = 100;
const COMMENTS = 20;

describe('the event loop', () => {
  let graph: TestGraph;
  let records: Records;
  let me: string;

  before(async () => {
    graph = await TestGraph.open('graph-loop');
    records = new Records(graph.database);
    me = await records.person();
    const home = await records.workspace('Home', me);
    const task = { workspaceId: home, creatorId: me, title: 'Task', description: 'x'.repeat(20 * 1024) };
    const tasks = await records.store(Array.from({ length: TASKS }, () => ({ model: 'Task', values: task })));
    await records.store(
      tasks.flatMap(({ id: taskId }) =>
        Array.from({ length: COMMENTS }, () => ({
          model: 'Comment',
          values: { workspaceId: home, taskId, authorId: me, body: 'Text' },
        })),
      ),
    );
  });
  after(async () => {
    await Promise.all([records.pool.end(), records.sync.end()]);
    await graph[Symbol.asyncDispose]();
  });

  it('goes on while the records of a large answer are completed [graphql.limit.loop]', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `a${index}: body`).join(' ');
    const query = `{ tasks(last: 100) { nodes { comments(last: ${COMMENTS}) { nodes { ${names} } } } } }`;
    let [loops, isCounting] = [0, false];
    const count = (): void => {
      loops += 1;
      if (isCounting) setImmediate(count);
    };
    const { statements } = records.sources;
    const rows = statements.rows.bind(statements);
    const counted: typeof rows = async (caller, pool, statement) => {
      const read = await rows<never>(caller, pool, statement);
      // Only the turns after the last statement count.
      loops = 0;
      return read;
    };
    statements.rows = counted;
    try {
      isCounting = true;
      setImmediate(count);
      const { tasks } = await records.data<{ tasks: { nodes: { comments: { nodes: object[] } }[] } }>(me, query);
      const found = tasks.nodes.flatMap(({ comments }) => comments.nodes);
      assert.equal(found.length, TASKS * COMMENTS);
      assert.equal(Object.keys(found.at(-1) ?? {}).length, 30);
    } finally {
      isCounting = false;
      statements.rows = rows;
    }
    // 2000 records with 30 fields: sixteen turns of 5000, where graphql-js alone takes one.
    assert.ok(loops >= 10, `${loops} turns`);
  });

  it('is not held by texts that an answer repeats: more than 8 MiB of them are refused [graphql.limit.loop]', async () => {
    const names = Array.from({ length: 29 }, (_, index) => `a${index}: description`).join(' ');
    const principal = { ...personWith('read'), userId: me };
    const answer = await graph.query(`{ tasks(last: 100) { nodes { ${names} } } }`, { principal });
    assert.deepEqual([answer.status, answer.body.data], [200, null]);
    assert.deepEqual(codesOf(answer), ['COMPLEXITY_LIMIT_EXCEEDED']);
    assert.match(answer.text, /more than 8 MiB of text/);
    const few = await graph.query(`{ tasks(last: 10) { nodes { ${names} } } }`, { principal });
    assert.deepEqual(codesOf(few), []);
  });

  it('is not held by variables with thousands of wrong names: the first few are reported [graphql.limit.loop]', async () => {
    const filter = Object.fromEntries(Array.from({ length: 18_000 }, (_, index) => [`titel${index}`, 1]));
    const principal = { ...personWith('read'), userId: me };
    const query = 'query ($filter: TaskFilter) { tasks(filter: $filter) { totalCount } }';
    const { status, body } = await graph.query(query, { principal, variables: { filter } });
    assert.deepEqual([status, body.errors?.length], [200, 6]);
    assert.match(body.errors?.[0]?.message ?? '', /unknown field "titel0"/);
    assert.match(body.errors?.at(-1)?.message ?? '', /Too many errors/);
  });
});
