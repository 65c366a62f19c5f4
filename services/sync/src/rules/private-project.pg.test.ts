import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedWithOwner } from '../../test/shared-engines.ts';
import { type TestEngines, applied, brief, change, only, refused, type TestPerson } from '../../test/test-engines.ts';

describe('a private project [sync.private-project.walls]', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let mover: TestPerson;
  let friend: TestPerson;
  let workspace: string;

  before(async () => {
    ({ engines, owner, workspace } = await sharedWithOwner());
    mover = await engines.join(workspace, 'member');
    friend = await engines.join(workspace, 'member');
  });

  let count = 0;
  const project = (more: object = {}): Promise<string> =>
    mover.make('Project', { workspaceId: workspace, key: `P${(count += 1)}`, name: 'Project', ...more });

  async function taskWithParts(
    projectId: string | null,
  ): Promise<{ task: string; item: string; comment: string; answer: string }> {
    const home = { workspaceId: workspace };
    const task = await mover.make('Task', { ...home, title: 'Task', projectId });
    const item = await mover.make('TaskChecklistItem', { ...home, taskId: task, title: 'Step' });
    const comment = await mover.make('Comment', { ...home, taskId: task, body: 'Said' });
    const answer = await mover.make('Comment', { ...home, taskId: task, body: 'Answered', parentId: comment });
    return { task, item, comment, answer };
  }

  const since = async (place: bigint, names: Record<string, string>): Promise<string[]> =>
    brief(await engines.entries(place), { workspace, mover: mover.id, friend: friend.id, ...names });

  it('that is private from the start is visible to its creator only, who is its first member', async () => {
    const from = await engines.head();
    const hidden = await project({ isPrivate: true });
    const own = await engines.membershipOf(hidden, mover, 'project');
    assert.deepEqual(await since(from, { hidden, own }), [
      'INSERT hidden for hidden',
      'INSERT own for hidden',
      'INSERT own for mover',
    ]);
    assert.ok((await mover.groups()).has(hidden));
    assert.ok(!(await owner.groups()).has(hidden));
  });

  it('hides a task and its children from the workspace by adjacent DELETE and INSERT entries [sync.action.group]', async () => {
    const hidden = await project({ isPrivate: true });
    const { task, item, comment, answer } = await taskWithParts(null);
    const from = await engines.head();
    const moved = await mover.change('Task', task, { projectId: hidden, title: 'Now hidden' });
    const entries = await engines.entries(from);
    const said = await since(from, { hidden, task, item, comment, answer });
    assert.equal(said.length, 8);
    const gone = said.slice(0, 4);
    const came = said.slice(4);
    assert.equal(gone[3], 'DELETE task for workspace');
    assert.ok(gone.indexOf('DELETE answer for workspace') < gone.indexOf('DELETE comment for workspace'));
    assert.equal(came[0], 'INSERT task for hidden');
    assert.deepEqual(
      [...came].sort(),
      ['task', 'item', 'comment', 'answer'].map((name) => `INSERT ${name} for hidden`).sort(),
    );
    // The DELETE has the record before the move, the INSERT the record after it, with the changed fields.
    assert.equal(entries[3]?.record['title'], 'Task');
    assert.deepEqual(entries[3]?.data, {});
    assert.deepEqual([entries[4]?.record['title'], entries[4]?.changed], ['Now hidden', ['title', 'projectId']]);
    assert.equal(entries[4]?.syncId, moved.syncId.toString());
    assert.equal(new Set(entries.map(({ clientTxId }) => clientTxId)).size, 1);
    for (const [model, id] of [
      ['Task', task],
      ['TaskChecklistItem', item],
      ['Comment', answer],
    ] as const)
      assert.equal((await engines.stored(model, id))?.groupId, hidden);

    const back = await engines.head();
    await mover.change('Task', task, { projectId: null });
    const returned = await since(back, { hidden, task, item, comment, answer });
    assert.ok(returned.slice(0, 4).every((one) => /^DELETE \w+ for hidden$/.test(one)));
    assert.ok(returned.slice(4).every((one) => /^INSERT \w+ for workspace$/.test(one)));
    assert.equal((await engines.stored('Comment', comment))?.groupId, workspace);
  });

  it('moves a task to another private project without an entry for the workspace', async () => {
    const [one, other] = [await project({ isPrivate: true }), await project({ isPrivate: true })];
    const { task } = await taskWithParts(one);
    const from = await engines.head();
    await mover.change('Task', task, { projectId: other });
    const groups = (await engines.entries(from)).map(({ groupId }) => groupId);
    assert.deepEqual(groups, [one, one, one, one, other, other, other, other]);
  });

  it('that becomes private and public again moves its members and tasks, with one entry for each', async () => {
    const hidden = await project();
    const theirs = await owner.make('ProjectMember', { projectId: hidden, userId: friend.id });
    const { task, item, comment, answer } = await taskWithParts(hidden);
    const names = { hidden, theirs, task, item, comment, answer };
    const from = await engines.head();
    await mover.change('Project', hidden, { isPrivate: true });
    const own = await engines.membershipOf(hidden, mover, 'project');
    const closed = await since(from, { ...names, own });
    assert.ok(
      closed.slice(0, 6).every((one) => /^DELETE \w+ for workspace$/.test(one)),
      closed.join('\n'),
    );
    assert.equal(closed[5], 'DELETE hidden for workspace');
    assert.deepEqual(closed.slice(6, 9), ['INSERT hidden for hidden', 'INSERT own for hidden', 'INSERT own for mover']);
    assert.equal(closed.filter((one) => one === 'INSERT theirs for friend').length, 1);
    // The person's own entry is after those of the group, so that a reader who then reads the group finds them.
    assert.ok(closed.indexOf('INSERT theirs for hidden') < closed.indexOf('INSERT theirs for friend'));
    assert.equal(closed.filter((one) => one.endsWith('for workspace')).length, 6);
    assert.deepEqual(
      [...(await friend.groups())].filter((group) => group === hidden),
      [hidden],
    );

    const back = await engines.head();
    await mover.change('Project', hidden, { isPrivate: false, name: 'Open' });
    const opened = await since(back, { ...names, own });
    // The person's own entry of a loss is before the last entry of the group.
    assert.ok(opened.indexOf('DELETE theirs for friend') < opened.indexOf('DELETE theirs for hidden'));
    assert.ok(opened.indexOf('DELETE own for mover') < opened.indexOf('DELETE own for hidden'));
    assert.equal(opened.filter((one) => / for (?:friend|mover)$/.test(one)).length, 2);
    const firstIn = opened.findIndex((one) => one.startsWith('INSERT'));
    assert.equal(opened[firstIn], 'INSERT hidden for workspace');
    assert.ok(opened.slice(firstIn).every((one) => /^INSERT \w+ for workspace$/.test(one)));
    assert.ok(!(await friend.groups()).has(hidden));
  });

  it('is joined and left in log order: the entry for the person is last for a gain and first for a loss [sync.membership.in-order]', async () => {
    const hidden = await project({ isPrivate: true });
    const from = await engines.head();
    const theirs = await mover.make('ProjectMember', { projectId: hidden, userId: friend.id });
    await friend.delete('ProjectMember', theirs);
    assert.deepEqual(await since(from, { hidden, theirs }), [
      'INSERT theirs for hidden',
      'INSERT theirs for friend',
      'DELETE theirs for friend',
      'DELETE theirs for hidden',
    ]);
  });

  it('that is public gives no access: its memberships have entries for the workspace only', async () => {
    const open = await project();
    const from = await engines.head();
    const theirs = await mover.make('ProjectMember', { projectId: open, userId: friend.id });
    await mover.delete('ProjectMember', theirs);
    assert.deepEqual(await since(from, { open, theirs }), [
      'INSERT theirs for workspace',
      'DELETE theirs for workspace',
    ]);
    assert.ok(!(await friend.groups()).has(open));
  });

  it('without members can be joined by managers of the workspace', async () => {
    const lost = await project({ isPrivate: true });
    await mover.delete('ProjectMember', await engines.membershipOf(lost, mover, 'project'));
    assert.equal(refused(await owner.try('UPDATE', 'Project', lost, { name: 'Found' })).code, 'not_found');
    await owner.make('ProjectMember', { projectId: lost, userId: owner.id });
    await owner.change('Project', lost, { name: 'Found' });
  });

  it('accepts only members of the workspace', async () => {
    const hidden = await project({ isPrivate: true });
    const stranger = await engines.person();
    const refusal = refused(
      await mover.try('INSERT', 'ProjectMember', randomUUID(), { projectId: hidden, userId: stranger.id }),
    );
    assert.deepEqual(refusal, { ok: false, code: 'not_found', error: 'userId: not a member of the workspace' });
  });

  it('that a service makes private gets no member for the service', async () => {
    const id = randomUUID();
    await engines.decided(
      randomUUID(),
      change('INSERT', 'Project', id, { workspaceId: workspace, key: 'SVC', name: 'S', isPrivate: true }),
    );
    const { rows } = await engines.pool.query('select id from sync.project_members where project_id = $1', [id]);
    assert.deepEqual(rows, []);
  });

  it('moves more tasks than one round of reading could read one by one', async () => {
    const hidden = await project();
    for (let n = 0; n < 40; n += 1)
      await mover.make('Task', { workspaceId: workspace, title: `T${n}`, projectId: hidden });
    applied(await mover.try('UPDATE', 'Project', hidden, { isPrivate: true }));
    const { rows } = await engines.pool.query<{ group_id: string }>(
      'select distinct group_id from sync.tasks where project_id = $1',
      [hidden],
    );
    assert.deepEqual(rows, [{ group_id: hidden }]);
    assert.equal(only(await mover.try('UPDATE', 'Project', hidden, { name: 'Renamed' })).record['name'], 'Renamed');
  });
});
