import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Records } from './records.ts';

const THREE_LEVELS = `{ projects(first: 100) { totalCount nodes { name lead { name } members(first: 3) { nodes { user { name } } }
  tasks(first: 10, filter: {priority: {lte: 4}}, orderBy: {title: ASC}) { totalCount nodes { title creator { name } assignee { name } team { name }
    labels(first: 5) { totalCount nodes { name } } comments(first: 2) { nodes { body author { name } replies { totalCount } } } checklist { nodes { title } } } } } } }`;

describe('the statements of a request', () => {
  let records: Records;
  before(async () => (records = await Records.open('graph-statements')));
  after(() => records[Symbol.asyncDispose]());

  /** A person with a workspace of so many projects, each with ten tasks. */
  const fill = async (projects: number): Promise<string> => {
    const me = await records.person();
    const home = await records.workspace('W', me);
    const labels = await records.store(
      ['a', 'b', 'c'].map((name) => ({ model: 'Label', values: { workspaceId: home, name } })),
    );
    const made = await records.store(
      Array.from({ length: projects }, (_, index) => ({
        model: 'Project',
        values: { workspaceId: home, creatorId: me, leadId: me, key: `K${index}`, name: `Project ${index}` },
      })),
    );
    const links = { workspaceId: home, creatorId: me, assigneeId: me, labelIds: labels.map(({ id }) => id) };
    const tasks = await records.store(
      made.flatMap(({ id }) =>
        Array.from({ length: 10 }, (_, index) => ({
          model: 'Task',
          values: { ...links, title: `Task ${index}`, projectId: id, description: 'x'.repeat(index * 400) },
        })),
      ),
    );
    await records.store(
      tasks.flatMap(({ id: taskId }) => [
        { model: 'Comment', values: { workspaceId: home, taskId, authorId: me, body: 'First' } },
        { model: 'TaskChecklistItem', values: { workspaceId: home, taskId, title: 'Step' } },
      ]),
    );
    return me;
  };

  it('are as many for a hundred records as for one [graphql.reads.level]', async () => {
    const [few, many] = [await fill(1), await fill(30)];
    const counts = new Set<number>();
    for (const who of [few, many]) {
      // The second time the groups are cached, so that only the changes since are read.
      await records.data(who, THREE_LEVELS);
      const { errors, statements } = await records.ask(who, THREE_LEVELS);
      assert.deepEqual(errors, []);
      counts.add(statements);
    }
    const [only, ...others] = counts;
    assert.deepEqual(others, []);
    // One for each of the fields that read records or totals, and one for the groups of the person.
    assert.ok((only ?? 0) <= 17, String(only));
  });

  it('count the records of a connection only where the number is selected, and read them only where they are', async () => {
    const me = await fill(1);
    const count = async (query: string): Promise<number> => (await records.ask(me, query)).statements;
    await count('{ tasks { totalCount } }');
    // The first statement of a request also shows whether the groups of the caller changed.
    assert.equal(await count('{ tasks { nodes { id } } }'), 1);
    assert.equal(await count('{ tasks { totalCount } }'), 1);
    assert.equal(await count('{ tasks { ...P } } fragment P on TaskConnection { totalCount edges { cursor } }'), 2);
    assert.equal(await count('{ projects { nodes { tasks { totalCount } } } }'), 2);
  });

  it('are one for the same model in many places of a level', async () => {
    const me = await fill(20);
    const { statements, errors } = await records.ask(
      me,
      '{ tasks(first: 100) { nodes { creator { name } assignee { id } } } }',
    );
    assert.deepEqual(errors, []);
    // One for the groups, because this is the first request of the person, one for the tasks, and one for all people.
    assert.equal(statements, 3);
  });

  it('read and count the records of the same parent once', async () => {
    const me = await fill(20);
    const ofWorkspace = async (field: string): Promise<number> => {
      let parents = 0;
      const { statements } = records.sources;
      const rows = statements.rows.bind(statements);
      statements.rows = (caller, pool, query) => {
        const ids = query.values?.find(Array.isArray);
        if (query.text.includes('parent') && ids !== undefined) parents += ids.length;
        return rows(caller, pool, query);
      };
      try {
        await records.data(me, `{ tasks(first: 20) { nodes { workspace { tasks(first: 2) { ${field} } } } } }`);
      } finally {
        statements.rows = rows;
      }
      return parents;
    };
    assert.equal(await ofWorkspace('nodes { id }'), 1);
    assert.equal(await ofWorkspace('totalCount'), 1);
  });

  it('read a long text only where it is selected, and every other field as it is stored', async () => {
    const me = await records.person();
    const home = await records.workspace('Long', me);
    const description = 'word '.repeat(10_000);
    const times = { createdAt: '2026-11-21T09:00:00.120Z' };
    const values = {
      workspaceId: home,
      creatorId: me,
      title: 'Long',
      description,
      deadlineAt: '2026-11-30',
      labelIds: [randomUUID()],
    };
    const task = await records.one({ model: 'Task', values, ...times });
    const fields = Object.keys(task).filter((field) => field !== 'description');
    const { tasks } = await records.data<{ tasks: { nodes: object[] } }>(
      me,
      `{ tasks { nodes { ${fields.join(' ')} } } }`,
    );
    const { description: _, ...rest } = task as typeof task & { description: string };
    assert.deepEqual(tasks.nodes, [rest]);
    const whole = await records.data<{ task: object }>(me, `{ task(id: "${task.id}") { description } }`);
    assert.deepEqual(whole, { task: { description } });
  });

  it('are the same ones for every person, so that they are prepared once', async () => {
    const texts = new Set<string>();
    const { statements } = records.sources;
    const rows = statements.rows.bind(statements);
    statements.rows = (caller, pool, query) => {
      texts.add(query.text);
      return rows(caller, pool, query);
    };
    try {
      for (const who of [await fill(1), await fill(2)]) {
        const before = texts.size;
        await records.data(who, THREE_LEVELS);
        if (before > 0) assert.equal(texts.size, before);
      }
    } finally {
      statements.rows = rows;
    }
  });

  it('serve a reader of a thousand groups within the same number [graphql.reads.level]', async () => {
    const me = await fill(3);
    const home =
      (await records.data<{ myWorkspaces: { id: string }[] }>(me, '{ myWorkspaces { id } }')).myWorkspaces[0]?.id ?? '';
    const projects = await records.store(
      Array.from({ length: 1_000 }, (_, index) => {
        const id = randomUUID();
        const values = { workspaceId: home, creatorId: me, key: `P${index}`, name: 'Private', isPrivate: true };
        return { model: 'Project', id, values, groupId: id };
      }),
    );
    await records.store(
      projects.map(({ id }) => ({
        model: 'ProjectMember',
        values: { projectId: id, userId: me },
        workspaceId: home,
        groupId: id,
      })),
    );
    await records.store(
      projects.slice(0, 300).map(({ id }) => ({
        model: 'Task',
        values: { workspaceId: home, creatorId: me, title: 'Inside', projectId: id },
        groupId: id,
      })),
    );
    records.sources.groupCache.invalidate();
    const query = `{ tasks(first: 10) { totalCount nodes { title project { name } } } users { totalCount } projects(first: 10, orderBy: {name: ASC}) { totalCount nodes { tasks { totalCount } } } search(query: "Inside", first: 3) { nodes { id } } }`;
    const { data, errors, statements } = await records.ask(me, query);
    assert.deepEqual(errors, []);
    const { tasks, projects: listed } = data as {
      tasks: { totalCount: number; nodes: object[] };
      projects: { totalCount: number };
    };
    assert.equal(tasks.totalCount, 330);
    assert.equal(tasks.nodes.length, 10);
    assert.equal(listed.totalCount, 1_003);
    assert.ok(statements <= 10, String(statements));
  });
});
