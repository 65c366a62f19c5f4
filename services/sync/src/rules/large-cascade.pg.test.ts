import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertLogIsState, shownOutside } from '../../test/fold.ts';
import { TestEngines, applied, change, membership, refused, type TestPerson } from '../../test/test-engines.ts';
import { Sweeper } from '../sweeps/sweeper.ts';
import { claimSweep } from '../store/sweeps.ts';

/** More children than one commit may change in these tests. */
const MANY = 30;

describe('a cascade that is too large for one commit [sync.mutate.always]', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let member: TestPerson;
  let guest: TestPerson;
  let workspace: string;
  const home = (more: object = {}): Record<string, unknown> => ({ workspaceId: workspace, ...more });
  let keys = 0;
  const project = (by: TestPerson, more: object = {}): Promise<string> =>
    by.make('Project', home({ key: `P${(keys += 1)}`, name: 'P', ...more }));
  const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, make));
  const groupsOf = async (table: string, field: string, value: string): Promise<string[]> =>
    (
      await engines.pool.query<{ group_id: string }>(
        `select distinct group_id from sync.${table} where ${field} = $1 order by group_id`,
        [value],
      )
    ).rows.map(({ group_id }) => group_id);

  before(async () => {
    engines = await TestEngines.open('sweep', 2, { recordsMax: 10, bytesMax: 100_000, levelsMax: 3 });
  });
  beforeEach(async () => {
    owner = await engines.person('Owner');
    workspace = await engines.workspace(owner);
    member = await engines.join(workspace, 'member');
    guest = await engines.join(workspace, 'guest');
  });
  after(() => engines[Symbol.asyncDispose]());

  async function assertSwept(): Promise<void> {
    assert.equal(await engines.sweeps(), 0);
    assert.deepEqual(shownOutside(await engines.entries()), []);
    await assertLogIsState(await engines.entries(), engines.pool);
  }

  it('never prevents the removal of a member, who sees nothing from then on, also after joining again [workspaces.members.cut-off]', async () => {
    const projects = await times(MANY, () => project(member, { isPrivate: true }));
    await owner.delete('WorkspaceMember', await engines.membershipOf(workspace, member));
    assert.equal(await engines.sweeps(), 1);
    assert.equal(refused(await member.try('UPDATE', 'Project', projects[0]!, { name: 'Mine' })).code, 'not_found');

    const comeBack = async () =>
      engines.send({
        ...owner.unit(membership(workspace, member.id, 'member')),
        authority: 'service',
        clientId: 'workspace',
      });
    const early = refused(await comeBack());
    assert.equal(early.code, 'unavailable');
    assert.match(early.error, /still being removed; try again shortly/);
    await engines.sweep();
    applied(await comeBack());
    assert.deepEqual(await member.groups(), new Set([member.id, workspace]));
    await assertSwept();
  });

  it('never prevents the removal of a member who is in more workspaces than a commit may change', async () => {
    await using other = await TestEngines.open('everywhere', 1);
    const admin = await other.person('Admin');
    const office = await other.workspace(admin);
    const [id, inside] = [randomUUID(), randomUUID()];
    await other.decided(id, change('INSERT', 'User', id, { name: 'Everywhere', email: 'a@b.example' }));
    await other.decided(id, membership(office, id, 'member', inside));
    await other.pool.query(
      `insert into sync.user_audiences (user_id, group_id) select $1, gen_random_uuid() from generate_series(1, 10001)`,
      [id],
    );
    const from = await other.head();
    await admin.delete('WorkspaceMember', inside);
    const entries = (await other.entries(from)).filter(({ modelName }) => modelName === 'User');
    assert.deepEqual(
      entries.map(({ groupId, data }) => [groupId, data['email']]),
      [
        [office, null],
        [id, 'a@b.example'],
      ],
    );
  });

  it('never leaves memberships to a person who joins again at the moment of the removal', async () => {
    for (let round = 0; round < 2; round += 1) {
      const leaver = await engines.join(workspace, 'member');
      await times(15, () => project(leaver, { isPrivate: true }));
      const removal = owner.unit(change('DELETE', 'WorkspaceMember', await engines.membershipOf(workspace, leaver)));
      const sendJoin = () =>
        engines.send(
          { ...owner.unit(membership(workspace, leaver.id, 'member')), authority: 'service' },
          engines.all[1],
        );
      const [left] = await Promise.all([engines.send(removal, engines.all[0]), sendJoin(), sendJoin(), sendJoin()]);
      applied(left);
      await engines.sweep();
      const groups = await leaver.groups();
      assert.deepEqual(groups.difference(new Set([workspace])), new Set([leaver.id]));
    }
    await assertSwept();
  });

  it('deletes the task first and each comment with an entry of its own [sync.mutate.cascade]', async () => {
    const taskId = await member.make('Task', home({ title: 'Pinned' }));
    const comments = await times(MANY, () => guest.make('Comment', home({ taskId, body: 'x'.repeat(5000) })));
    const from = await engines.head();
    await member.delete('Task', taskId);
    assert.deepEqual(
      (await engines.entries(from)).map(({ action, modelId }) => [action, modelId]),
      [['DELETE', taskId]],
    );
    // No record can be attached to the deleted one, and all its children are invisible.
    const refusal = refused(await guest.try('INSERT', 'Comment', randomUUID(), home({ taskId, body: 'Late' })));
    assert.equal(refusal.error, 'taskId: Task not found');
    assert.equal(refused(await guest.try('UPDATE', 'Comment', comments[0]!, { body: 'x' })).error, 'Comment not found');
    assert.equal(refused(await guest.try('DELETE', 'Comment', comments[0]!)).error, 'Comment not found');
    // No record may take the id, because the remaining children refer to it.
    const again = refused(await member.try('INSERT', 'Task', taskId, home({ title: 'Again' })));
    assert.match(again.error, /being deleted with all its parts; try again shortly/);

    await engines.sweep();
    const gone = (await engines.entries(from)).slice(1);
    assert.deepEqual(new Set(gone.map(({ modelId }) => modelId)), new Set(comments));
    assert.ok(gone.every(({ action, actorId }) => action === 'DELETE' && actorId === member.id));
    applied(await member.try('INSERT', 'Task', taskId, home({ title: 'Again' })));
    await assertSwept();
  });

  it('deletes a thread of any depth, from before their depth was limited', async () => {
    await using old = await TestEngines.open('sweep_thread', 1, { recordsMax: 10, levelsMax: 3 });
    const author = await old.person();
    const taskId = await author.make('Task', { workspaceId: await old.workspace(author), title: 'Talk' });
    const workspaceId = (await old.stored('Task', taskId))!.groupId;
    const top = await author.make('Comment', { workspaceId, taskId, body: 'Mine' });
    await old.pool.query(
      `with recursive thread(id, parent, depth) as (
         select gen_random_uuid(), $1::uuid, 1 union all select gen_random_uuid(), id, depth + 1 from thread where depth < 40
       ) insert into sync.comments (id, parent_id, task_id, author_id, body, created_at, updated_at, workspace_id, group_id, record)
       select t.id, t.parent, c.task_id, c.author_id, c.body, c.created_at, c.updated_at, c.workspace_id, c.group_id,
         (c.record::jsonb || jsonb_build_object('id', t.id, 'parentId', t.parent))::json from thread t, sync.comments c where c.id = $1`,
      [top],
    );
    await author.delete('Comment', top);
    await old.sweep();
    assert.equal(await old.sweeps(), 0);
    const { rows } = await old.pool.query('select id from sync.comments where task_id = $1', [taskId]);
    assert.deepEqual(rows, []);
  });

  it('deletes all roots of one request in its commit, also next to small ones', async () => {
    const taskIds = await times(9, () => member.make('Task', home({ title: 'T' })));
    for (const [index, taskId] of taskIds.entries())
      await times(index % 3 === 0 ? 2 : 13, () => guest.make('Comment', home({ taskId, body: 'C' })));
    const outcomes = await engines.any.commit(taskIds.map((id) => member.unit(change('DELETE', 'Task', id))));
    outcomes.map(applied);
    assert.deepEqual(await groupsOf('tasks', 'workspace_id', workspace), []);
    assert.ok((await engines.sweeps()) >= 6);
    await engines.sweep();
    assert.deepEqual(await groupsOf('comments', 'workspace_id', workspace), []);
    await assertSwept();
  });

  it('clears references in steps of as many bytes as a commit should hold', async () => {
    const label = await owner.make('Label', home({ name: 'L' }));
    const description = 'x'.repeat(40_000);
    await times(12, () => owner.make('Task', home({ title: 'T', description, labelIds: [label] })));
    const from = await engines.head();
    await owner.delete('Label', label);
    await engines.sweep();
    const steps = Map.groupBy(await engines.entries(from), ({ clientTxId }) => clientTxId);
    assert.ok([...steps.values()].every(({ length }) => length <= 2));
    assert.equal(steps.size, 1 + 12 / 2);
    await assertSwept();
  });

  it('is finished by another replica after a crash between the root and the rest, with sweeps for large children', async () => {
    const hidden = await project(owner, { isPrivate: true });
    const tasks = await times(12, () => owner.make('Task', home({ title: 'T', projectId: hidden })));
    for (const taskId of tasks.slice(0, 2)) await times(14, () => owner.make('Comment', home({ taskId, body: 'C' })));
    applied(await engines.send(owner.unit(change('DELETE', 'Project', hidden)), engines.all[0]));
    // One replica claims it, makes a step and is killed.
    const dying = new Sweeper({ pool: engines.pool, engine: engines.all[0]!, leaseMs: 60_000 });
    await dying.turn(1);
    assert.ok(await claimSweep(engines.pool, 60_000));
    await engines.pool.query(`update sync.sweeps set leased_until = '-infinity'`);
    await engines.sweep(engines.all[1]);
    for (const table of ['tasks', 'comments', 'project_members', 'projects'])
      assert.deepEqual(await groupsOf(table, 'workspace_id', workspace), [], table);
    await assertSwept();
  });

  it('is swept by two replicas concurrently', async () => {
    const label = await owner.make('Label', home({ name: 'L' }));
    const other = await owner.make('Label', home({ name: 'Kept' }));
    const shared = await project(owner);
    await times(MANY, () => owner.make('Task', home({ title: 'T', projectId: shared, labelIds: [label, other] })));
    const from = await engines.head();
    await owner.delete('Label', label);
    await owner.change('Project', shared, { isPrivate: true });
    const sweepers = engines.all.map((engine) => new Sweeper({ pool: engines.pool, engine, leaseMs: 0 }));
    await Promise.all(
      sweepers.map(async (sweeper) => {
        while (await sweeper.turn(2));
      }),
    );
    const entries = await engines.entries(from);
    assert.equal(entries.filter(({ changed }) => changed.includes('labelIds')).length, MANY);
    assert.equal(entries.filter(({ action, modelName }) => action === 'INSERT' && modelName === 'Task').length, MANY);
    const { rows } = await engines.pool.query<{ label_ids: string }>(
      `select distinct label_ids::text from sync.tasks where workspace_id = $1`,
      [workspace],
    );
    assert.deepEqual(rows, [{ label_ids: `{${other}}` }]);
    assert.deepEqual(await groupsOf('tasks', 'project_id', shared), [shared]);
    await assertSwept();
  });

  it('moves with its project from the commit that makes that private: others change nothing, and new children are private [never.shown-outside]', async () => {
    const shared = await project(owner);
    const taskIds = await times(MANY, () => member.make('Task', home({ title: 'T', projectId: shared })));
    const [first, second, third] = taskIds as [string, string, string];
    await owner.change('Project', shared, { isPrivate: true });
    assert.deepEqual(await groupsOf('tasks', 'project_id', shared), [workspace]);
    // Their creator is no member of the project.
    for (const [action, payload] of [
      ['UPDATE', { title: 'Mine' }],
      ['UPDATE', { projectId: null }],
      ['ARCHIVE', {}],
      ['DELETE', {}],
    ] as const)
      assert.equal(refused(await member.try(action, 'Task', first, payload)).error, 'Task not found');
    const outside = refused(await guest.try('INSERT', 'Comment', randomUUID(), home({ taskId: first, body: 'C' })));
    assert.equal(outside.error, 'taskId: Task not found');
    const comment = await owner.make('Comment', home({ taskId: first, body: 'Inside' }));
    assert.equal((await engines.stored('Comment', comment))?.groupId, shared);
    await owner.change('Task', second, { title: 'Now' });
    assert.equal((await engines.stored('Task', second))?.groupId, shared);
    applied(await owner.try('ARCHIVE', 'Task', third));
    assert.equal((await engines.stored('Task', third))?.groupId, shared);
    await engines.sweep();
    assert.deepEqual(await groupsOf('tasks', 'project_id', shared), [shared]);
    await assertSwept();
  });

  it('has no entry for others before the sweep has moved it, not even for a cleared label [never.shown-outside]', async () => {
    const shared = await project(owner);
    const [label, few] = [
      await owner.make('Label', home({ name: 'L' })),
      await owner.make('Label', home({ name: 'F' })),
    ];
    await times(MANY, () => owner.make('Task', home({ title: 'T', projectId: shared, labelIds: [label] })));
    await owner.make('Task', home({ title: 'T', projectId: shared, labelIds: [few] }));
    await owner.change('Project', shared, { isPrivate: true });
    await engines.pool.query(`update sync.sweeps set leased_until = clock_timestamp() + interval '1 hour'`);
    const from = await engines.head();
    await owner.delete('Label', few);
    await owner.delete('Label', label);
    await engines.sweep();
    const inside = (await engines.entries(from)).filter(({ changed }) => changed.includes('labelIds'));
    assert.equal(inside.length, MANY + 1);
    assert.ok(inside.every(({ groupId }) => groupId === shared));
    await engines.pool.query(`update sync.sweeps set leased_until = '-infinity'`);
    await engines.sweep();
    await assertSwept();
  });

  it('follows a project that becomes public again during the sweep, and a task that moves to another project', async () => {
    const shared = await project(owner);
    const other = await project(owner, { isPrivate: true });
    const taskIds = await times(MANY, () => owner.make('Task', home({ title: 'T', projectId: shared })));
    await times(MANY, () => guest.make('Comment', home({ taskId: taskIds[0]!, body: 'C' })));
    await owner.change('Project', shared, { isPrivate: true });
    await new Sweeper({ pool: engines.pool, engine: engines.any, leaseMs: 0 }).turn(1);
    await owner.change('Task', taskIds[0]!, { projectId: other });
    await owner.change('Project', shared, { isPrivate: false });
    await engines.sweep();
    assert.deepEqual(await groupsOf('tasks', 'project_id', shared), [workspace]);
    assert.deepEqual(await groupsOf('comments', 'task_id', taskIds[0]!), [other]);
    await assertSwept();
  });

  it('is visible to the members of a project until it is visible to all', async () => {
    const hidden = await project(owner, { isPrivate: true });
    await owner.make('ProjectMember', { projectId: hidden, userId: guest.id });
    await times(MANY, () => owner.make('Task', home({ title: 'T', projectId: hidden })));
    await owner.change('Project', hidden, { isPrivate: false });
    await new Sweeper({ pool: engines.pool, engine: engines.any, leaseMs: 0 }).turn(2);
    assert.deepEqual((await groupsOf('tasks', 'project_id', hidden)).sort(), [hidden, workspace].sort());
    assert.ok((await guest.groups()).has(hidden));
    await engines.sweep();
    assert.deepEqual(await guest.groups(), new Set([guest.id, workspace]));
    await assertSwept();
  });

  it('deletes 600 tasks with the default bounds', async () => {
    await using large = await TestEngines.open('sweep_large');
    const person = await large.person();
    const workspaceId = await large.workspace(person);
    const projectId = await person.make('Project', { workspaceId, key: 'L', name: 'L' });
    const insert = () => person.unit(change('INSERT', 'Task', randomUUID(), { workspaceId, projectId, title: 'T' }));
    await large.any.commit(Array.from({ length: 600 }, insert));
    applied(await person.try('UPDATE', 'Project', projectId, { isPrivate: true }));
    assert.equal(await large.sweeps(), 1);
    await large.sweep();
    await person.delete('Project', projectId);
    await large.sweep();
    await assertLogIsState(await large.entries(), large.pool);
    assert.equal((await large.pool.query('select from sync.tasks')).rowCount, 0);
  });
});
