import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Records } from './records.ts';

interface Trash {
  readonly trash: {
    readonly nodes: readonly {
      readonly archivedAt: string;
      readonly purgesAt: string | null;
      readonly archivedBy: { readonly name: string } | null;
      readonly task: {
        readonly id: string;
        readonly title: string;
        readonly project: { readonly name: string } | null;
      };
    }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly totalCount: number;
    readonly deletableCount: number;
  };
}

const QUERY = `query ($id: ID!, $first: Int, $after: String) { trash(workspaceId: $id, first: $first, after: $after) {
  nodes { archivedAt purgesAt archivedBy { name } task { id title project { name } } } pageInfo { hasNextPage endCursor } totalCount deletableCount } }`;

const day = (number: number): string => `2026-10-${String(number).padStart(2, '0')}T08:00:00.000Z`;

describe('the Trash of a workspace', () => {
  let records: Records;
  let [ada, bob, home] = ['', '', ''];
  let position = 0;
  before(async () => {
    records = await Records.open('graph-trash');
    [ada, bob] = [await records.person('Ada'), await records.person('Bob')];
    home = await records.workspace('Platform', ada, bob);
  });
  beforeEach(async () => {
    await records.sync.query(`delete from sync.tasks`);
    await records.sync.query(
      `insert into sync.purge_state (retention_days, last_round_at) values (30, now())
       on conflict (is_only_row) do update set retention_days = 30, waits_until = null`,
    );
    await records.sync.query(`update sync.workspaces set trash_retention_days = null`);
  });
  after(() => records[Symbol.asyncDispose]());

  const task = async (
    title: string,
    archivedAt: string | null,
    more: object = {},
    groupId?: string,
  ): Promise<string> => {
    const values = { workspaceId: home, creatorId: ada, title, ...more };
    return (await records.one({ model: 'Task', values, archivedAt, ...(groupId ? { groupId } : {}) })).id;
  };
  const archivedBy = (id: string, actor: string, groupId = home): Promise<unknown> => {
    position += 1;
    return records.sync.query(
      `insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
       values ($1, gen_random_uuid(), $2, $3, 'Task', $4, 'ARCHIVE', '{}', null, '{}', $5, 'test', $6, now())`,
      [position, home, groupId, id, actor, `tx-${position}`],
    );
  };
  const trash = async (who: string, variables: object = {}): Promise<Trash['trash']> =>
    (await records.data<Trash>(who, QUERY, { variables: { id: home, ...variables } })).trash;

  it('has archived tasks alone, the newest first, with who archived them and when they are deleted for good [trash.list]', async () => {
    await task('Open', null);
    const [first, second] = [await task('First', day(1)), await task('Second', day(2))];
    await archivedBy(first, ada);
    await archivedBy(first, bob);
    const { nodes, totalCount, deletableCount } = await trash(bob);
    assert.deepEqual(nodes, [
      {
        archivedAt: day(2),
        purgesAt: '2026-11-01T08:00:00.000Z',
        archivedBy: null,
        task: { id: second, title: 'Second', project: null },
      },
      {
        archivedAt: day(1),
        purgesAt: '2026-10-31T08:00:00.000Z',
        archivedBy: { name: 'Bob' },
        task: { id: first, title: 'First', project: null },
      },
    ]);
    assert.deepEqual([totalCount, deletableCount], [2, 2]);
  });

  it('goes on with the next page after its cursor, and refuses another cursor', async () => {
    for (const number of [1, 2, 3]) await task(`T${number}`, day(number));
    const titles = async (variables: object): Promise<[string[], boolean, string | null]> => {
      const { nodes, pageInfo } = await trash(ada, variables);
      return [nodes.map((node) => node.task.title), pageInfo.hasNextPage, pageInfo.endCursor];
    };
    const [page, hasMore, after] = await titles({ first: 2 });
    assert.deepEqual([page, hasMore], [['T3', 'T2'], true]);
    const [rest, ends] = await titles({ first: 2, after });
    assert.deepEqual([rest, ends], [['T1'], false]);
    for (const wrong of ['x', Buffer.from(`t1:${day(1)} 1`).toString('base64url')]) {
      const { errors } = await records.ask(ada, QUERY, { variables: { id: home, after: wrong } });
      assert.match(errors[0]?.message ?? '', /cursor/);
    }
  });

  it('shows tasks of a private project to its members only [trash.list]', async () => {
    const secret = await records.project(home, ada, { name: 'Secret', members: [ada] });
    const hidden = await task('Hidden', day(1), { projectId: secret }, secret);
    await archivedBy(hidden, ada, secret);
    const outsider = await records.person('Eve');
    assert.deepEqual(
      (await trash(ada)).nodes.map((node) => node.task.project?.name),
      ['Secret'],
    );
    for (const who of [bob, outsider]) {
      const { nodes, totalCount } = await trash(who);
      assert.deepEqual([nodes, totalCount], [[], 0]);
    }
  });

  it('shows the day by which the longer retention of a workspace, a delayed purge or none at all decides [trash.list]', async () => {
    await task('Kept', day(1));
    const purgesAt = async (): Promise<string | null | undefined> => (await trash(ada)).nodes[0]?.purgesAt;
    await records.sync.query(`update sync.workspaces set trash_retention_days = 60 where id = $1`, [home]);
    assert.equal(await purgesAt(), '2026-11-30T08:00:00.000Z');
    await records.sync.query(`update sync.purge_state set waits_until = '2027-01-01T00:00:00Z'`);
    assert.equal(await purgesAt(), '2027-01-01T00:00:00.000Z');
    await records.sync.query(`update sync.purge_state set retention_days = 0`);
    assert.equal(await purgesAt(), null);
  });

  it('counts for a guest the tasks that they may delete [trash.empty]', async () => {
    const gina = await records.person('Gina');
    await records.join(home, gina, 'guest');
    await task('Of Ada', day(1));
    await task('Of Gina', day(2), { creatorId: gina });
    await task('For Gina', day(3), { assigneeId: gina });
    const { totalCount, deletableCount } = await trash(gina);
    assert.deepEqual([totalCount, deletableCount], [3, 2]);
  });

  it('reads a page with one statement for any number of tasks', async () => {
    const statements = async (): Promise<number> =>
      (
        await records.ask(
          ada,
          `query ($id: ID!) { trash(workspaceId: $id) { nodes { archivedBy { name } task { title creator { name } } } } }`,
          { variables: { id: home } },
        )
      ).statements;
    const few = [await task('T1', day(1))];
    for (const id of few) await archivedBy(id, bob);
    const before = await statements();
    for (const number of [2, 3, 4]) await archivedBy(await task(`T${number}`, day(number)), bob);
    assert.equal(await statements(), before);
  });

  it('of a deleted workspace is read by its id, and lists and searches leave out what is in it [graphql.reads.archived]', async () => {
    const deleted = await records.workspace('Deleted', ada);
    const values = { workspaceId: deleted, creatorId: ada, title: 'Vanished' };
    const { id } = await records.one({ model: 'Task', values });
    await records.sync.query(`update sync.workspaces set archived_at = now() where id = $1`, [deleted]);
    const ids = async (given: string): Promise<string[]> =>
      (
        await records.data<{ tasks: { nodes: { id: string }[] }; search: { nodes: { id: string }[] } }>(
          ada,
          `{ tasks(filter: {title: {eq: "Vanished"}}${given}) { nodes { id } } search(query: "Vanished"${given}) { nodes { id } } }`,
        )
      ).tasks.nodes.map((node) => node.id);
    assert.deepEqual(await ids(''), []);
    assert.deepEqual(await ids(', includeArchived: true'), [id]);
    const { workspaces, myWorkspaces } = await records.data<
      Record<string, { nodes: { id: string }[] } & { id: string }[]>
    >(ada, '{ workspaces { nodes { id } } myWorkspaces { id } }');
    assert.deepEqual([workspaces?.nodes.map((one) => one.id), myWorkspaces?.map((one) => one.id)], [[home], [home]]);
    assert.deepEqual(await records.data(ada, `{ workspace(id: "${deleted}") { id } task(id: "${id}") { id } }`), {
      workspace: { id: deleted },
      task: { id },
    });
  });

  it('refuses a workspace that is no id', async () => {
    const { errors } = await records.ask(ada, QUERY, { variables: { id: 'x' } });
    assert.match(errors[0]?.message ?? '', /workspaceId must be a UUID/);
    assert.deepEqual((await trash(ada, { id: randomUUID() })).nodes, []);
  });
});
