import { inversesOf, MODELS, relationsOf, singularOf } from '@wts/models';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Records } from './records.ts';

interface Ids {
  readonly nodes: readonly { readonly id: string }[];
  readonly totalCount: number;
}

describe('what a reader sees', () => {
  let records: Records;
  let ada: string;
  let bob: string;
  let eve: string;
  let home: string;
  let secret: string;
  let label: string;
  /** By model: a record of the private project, of which Ada is a member and Bob is none. */
  const hidden = new Map<string, string>();

  before(async () => {
    records = await Records.open('graph-visibility');
    [ada, bob, eve] = [await records.person('Ada'), await records.person('Bob'), await records.person('Eve')];
    home = await records.workspace('Platform', ada, bob);
    await records.workspace('Elsewhere', eve);
    label = (await records.one({ model: 'Label', values: { workspaceId: home, name: 'urgent' } })).id;
    secret = await records.project(home, ada, { members: [ada], name: 'Merger', leadId: ada });
    hidden.set('Project', secret);
    const add = async (model: string, values: Record<string, unknown>): Promise<string> => {
      const { id } = await records.one({ model, values: { workspaceId: home, ...values }, groupId: secret });
      hidden.set(model, id);
      return id;
    };
    const links = { projectId: secret, labelIds: [label], assigneeId: ada, creatorId: ada };
    const taskId = await add('Task', { title: 'Sign the merger contract', ...links });
    await add('TaskChecklistItem', { taskId, title: 'Ask the lawyer' });
    await add('Comment', { taskId, authorId: ada, body: 'The merger is on Friday' });
    await records.one({ model: 'Task', values: { workspaceId: home, title: 'Clean the kitchen', creatorId: bob } });
  });
  after(() => records[Symbol.asyncDispose]());

  const isSeen = async (who: string, model: string, id: string, asked = {}): Promise<boolean> => {
    const query = `query ($id: ID!) { ${model}(id: $id) { id } node(id: $id) { id } nodes(ids: [$id]) { id } }`;
    const data = await records.data<Record<string, { id: string } | null>>(who, query, { variables: { id }, ...asked });
    const found = [data[model], data['node'], (data['nodes'] as unknown as ({ id: string } | null)[])[0]];
    const [first = null] = found;
    for (const one of found) assert.deepEqual(one ?? null, first, model);
    return first !== null;
  };

  it('is by id what they are a member of, in every spelling of the id, and null else [graphql.reads.visible]', async () => {
    for (const model of MODELS) {
      const id = hidden.get(model.name);
      if (id === undefined) continue;
      assert.equal(await isSeen(ada, singularOf(model), id), true, model.name);
      assert.equal(await isSeen(ada, singularOf(model), id.toUpperCase()), true, model.name);
      for (const who of [bob, eve]) assert.equal(await isSeen(who, singularOf(model), id), false, model.name);
      assert.equal(await isSeen(ada, singularOf(model), randomUUID()), false);
    }
  });

  it('has no list, number, filter or search with a record of a private project they are not in [graphql.reads.visible]', async () => {
    const ids = new Set(hidden.values());
    for (const model of MODELS) {
      const roots = `{ ${model.plural}(first: 100${model.archivable ? ', includeArchived: true' : ''}) { nodes { id } totalCount } }`;
      const [own = { nodes: [], totalCount: -1 }] = Object.values(await records.data<Record<string, Ids>>(bob, roots));
      assert.ok(
        own?.nodes.every(({ id }) => !ids.has(id)),
        model.name,
      );
      assert.equal(own.totalCount, own.nodes.length, model.name);
      const [hers] = Object.values(await records.data<Record<string, Ids>>(ada, roots));
      if (hidden.has(model.name)) assert.equal(hers?.totalCount, own.totalCount + 1, model.name);
    }
    for (const words of ['merger', 'Merger', 'contract', 'lawyer', 'Friday', 'mergr']) {
      const query = `{ search(query: "${words}") { nodes { id } } tasks(search: "${words}") { totalCount nodes { id } } }`;
      const found = await records.data<{ search: Ids; tasks: Ids }>(bob, query);
      assert.deepEqual(found, { search: { nodes: [] }, tasks: { totalCount: 0, nodes: [] } }, words);
    }
  });

  it('has no nested list or number with such a record, from any side [graphql.reads.visible]', async () => {
    const inverses = (name: string): string =>
      inversesOf(MODELS.find((model) => model.name === name) ?? assert.fail(name))
        .map(({ name: field }) => `${field}(first: 100) { totalCount nodes { id } }`)
        .join(' ');
    const query = `{ workspace(id: "${home}") { ${inverses('Workspace')} } label(id: "${label}") { ${inverses('Label')} } user(id: "${ada}") { ${inverses('User')} } }`;
    const bobs = JSON.stringify(await records.data(bob, query));
    const adas = JSON.stringify(await records.data(ada, query));
    for (const [model, id] of hidden) {
      assert.ok(!bobs.includes(id), model);
      assert.ok(adas.includes(id), model);
    }
    const { user } = await records.data<{ user: Record<string, { totalCount: number }> }>(bob, query);
    for (const field of ['assignedTasks', 'ledProjects', 'projectMemberships'])
      assert.equal(user[field]?.totalCount, 0, field);
  });

  it('is not revealed by a filter on other records [graphql.filter.no-oracle]', async () => {
    const filters = [
      `labels(filter: {tasks: {some: {title: {startsWith: "Sign"}}}})`,
      `users(filter: {assignedTasks: {some: {title: {contains: "merger"}}}})`,
      `users(filter: {projectMemberships: {some: {projectId: {eq: "${secret}"}}}})`,
      `workspaces(filter: {projects: {some: {name: {eq: "Merger"}}}})`,
      `workspaces(filter: {comments: {some: {body: {contains: "Friday"}}}})`,
      `members(filter: {workspace: {tasks: {some: {checklist: {some: {title: {contains: "lawyer"}}}}}}})`,
    ];
    for (const filter of filters) {
      const query = `{ found: ${filter} { totalCount nodes { id } } }`;
      assert.equal((await records.data<{ found: Ids }>(bob, query)).found.totalCount, 0, filter);
      assert.ok((await records.data<{ found: Ids }>(ada, query)).found.totalCount > 0, filter);
    }
    // Of what Bob does not see, none and all match in the same way.
    const none = `{ found: labels(filter: {tasks: {none: {title: {startsWith: "Sign"}}}}) { totalCount } }`;
    const every = `{ found: labels(filter: {tasks: {every: {title: {startsWith: "Never"}}}}) { totalCount } }`;
    for (const query of [none, every]) {
      assert.equal((await records.data<{ found: Ids }>(bob, query)).found.totalCount, 1);
      assert.equal((await records.data<{ found: Ids }>(ada, query)).found.totalCount, 0);
    }
  });

  it('is with a credential for one workspace only of that one [graphql.reads.visible]', async () => {
    const person = await records.person('Both');
    const [first, second] = [await records.workspace('First', person), await records.workspace('Second', person)];
    const own = await records.project(second, person, { members: [person] });
    const task = { title: 'In the second', creatorId: person };
    const { id } = await records.one({
      model: 'Task',
      values: { ...task, workspaceId: second, projectId: own },
      groupId: own,
    });
    for (const [workspaceId, isIn] of [
      [first, false],
      [second, true],
    ] as const) {
      assert.equal(await isSeen(person, 'task', id, { workspaceId }), isIn);
      assert.equal(await isSeen(person, 'project', own, { workspaceId }), isIn);
      assert.equal(await isSeen(person, 'workspace', second, { workspaceId }), isIn);
      const query =
        '{ tasks { totalCount } myWorkspaces { id } members { nodes { workspaceId } } projectMembers { totalCount } }';
      const data = await records.data<{
        tasks: Ids;
        myWorkspaces: { id: string }[];
        members: { nodes: object[] };
        projectMembers: Ids;
      }>(person, query, { workspaceId });
      assert.equal(data.tasks.totalCount, Number(isIn));
      assert.equal(data.projectMembers.totalCount, Number(isIn));
      assert.deepEqual(data.myWorkspaces, [{ id: workspaceId }]);
      assert.deepEqual(data.members.nodes, [{ workspaceId }]);
    }
  });

  it('ends with the membership of the workspace, for the next statement, although one of a project remains [graphql.reads.visible]', async () => {
    const person = await records.person('Leaver');
    const left = await records.workspace('Left by her', person);
    const own = await records.project(left, person, { members: [person] });
    const values = { workspaceId: left, projectId: own, title: 'Of the project', creatorId: person };
    const { id } = await records.one({ model: 'Task', values, groupId: own });
    const query = `{ task(id: "${id}") { id } tasks { totalCount nodes { id } } project(id: "${own}") { id } search(query: "project") { nodes { id } } }`;
    const seen = async (): Promise<boolean> => JSON.stringify(await records.data(person, query)).includes(id);
    // The first request reads the groups, the next ones rely on each statement.
    assert.deepEqual([await seen(), await seen()], [true, true]);
    await records.sync.query('delete from sync.workspace_members where user_id = $1', [person]);
    assert.deepEqual(await records.data(person, query), {
      task: null,
      tasks: { totalCount: 0, nodes: [] },
      project: null,
      search: { nodes: [] },
    });
  });

  it('is of a person who left their state of then, found by id and from their records, and not in lists [graphql.reads.visible]', async () => {
    const gone = await records.person('Now called otherwise');
    const group = await records.workspace('Left', ada);
    const frozen = {
      id: gone,
      name: 'As she was',
      email: null,
      avatarUrl: null,
      username: 'then',
      createdAt: '',
      updatedAt: '',
    };
    await records.sync.query(
      `insert into sync.frozen_people (user_id, group_id, record, frozen_at) values ($1, $2, $3, now())`,
      [gone, group, JSON.stringify(frozen)],
    );
    const task = await records.one({ model: 'Task', values: { workspaceId: group, title: 'Old', creatorId: gone } });
    const query = `query ($id: ID!, $task: ID!) { user(id: $id) { name } node(id: $id) { ... on User { username } } task(id: $task) { creator { name } }
      listed: tasks(filter: {id: {eq: $task}}) { nodes { creator { name } } }
      users(filter: {id: {eq: $id}}) { totalCount }
      tasks(filter: {creator: {name: {eq: "Now called otherwise"}}}) { totalCount } }`;
    const asked = { variables: { id: gone, task: task.id } };
    assert.deepEqual(await records.data(ada, query, asked), {
      user: { name: 'As she was' },
      node: { username: 'then' },
      task: { creator: { name: 'As she was' } },
      listed: { nodes: [{ creator: { name: 'As she was' } }] },
      users: { totalCount: 0 },
      tasks: { totalCount: 0 },
    });
    assert.deepEqual((await records.data<{ user: null }>(eve, query, asked)).user, null);
  });

  it('is without archived records and the tasks of archived projects, unless these are requested [graphql.reads.archived]', async () => {
    const group = await records.workspace('Archive', bob);
    const project = await records.one({
      model: 'Project',
      values: { workspaceId: group, key: 'OLD', name: 'Old', creatorId: bob },
      archivedAt: '2026-11-21T09:00:00.000Z',
    });
    const values = { workspaceId: group, creatorId: bob };
    await records.store([
      { model: 'Task', values: { ...values, title: 'Of the project', projectId: project.id } },
      { model: 'Task', values: { ...values, title: 'Trash' }, archivedAt: '2026-11-21T09:00:00.000Z' },
      { model: 'Task', values: { ...values, title: 'Open' } },
    ]);
    for (const [given, expected] of [
      ['', 1],
      [', includeArchived: true', 3],
    ] as const) {
      const filter = `filter: {workspaceId: {eq: "${group}"}}${given}`;
      const query = `{ tasks(${filter}) { totalCount nodes { title } } sorted: tasks(${filter}, orderBy: {title: ASC}) { nodes { title } }
        workspace(id: "${group}") { tasks(first: 9${given}) { totalCount } projects(first: 9${given}) { totalCount } } }`;
      const data = await records.data<{
        tasks: Ids;
        sorted: Ids;
        workspace: { tasks: Ids; projects: Ids };
      }>(bob, query);
      assert.deepEqual(
        [data.tasks.totalCount, data.tasks.nodes.length, data.sorted.nodes.length, data.workspace.tasks.totalCount],
        [expected, expected, expected, expected],
      );
      assert.equal(data.workspace.projects.totalCount, expected === 1 ? 0 : 1);
    }
    const { project: found } = await records.data<{ project: object }>(bob, `{ project(id: "${project.id}") { key } }`);
    assert.deepEqual(found, { key: 'OLD' });
  });

  it('leads from a record to none that they may not see, of every relation [graphql.reads.visible]', async () => {
    // Bob sees a task whose references name records that he does not see.
    const other = await records.project(home, ada, { members: [ada] });
    const values = { workspaceId: home, title: 'Odd', creatorId: eve, projectId: other };
    const task = await records.one({ model: 'Task', values });
    const relations = relationsOf(MODELS.find(({ name }) => name === 'Task') ?? assert.fail()).filter(
      ({ many }) => !many,
    );
    const fields = relations.map(({ name }) => `${name} { id }`).join(' ');
    // Alone, in a list at the root, and in one inside a record: the three are read by different statements.
    const list = `tasks(filter: {id: {eq: "${task.id}"}}) { nodes { ${fields} } }`;
    const data = await records.data<{
      task: object;
      tasks: { nodes: object[] };
      workspace: { tasks: { nodes: object[] } };
    }>(bob, `{ task(id: "${task.id}") { ${fields} } ${list} workspace(id: "${home}") { ${list} } }`);
    for (const found of [data.task, data.tasks.nodes[0], data.workspace.tasks.nodes[0]])
      assert.deepEqual(found, { workspace: { id: home }, project: null, team: null, assignee: null, creator: null });
  });
});
