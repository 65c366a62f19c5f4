import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedWithOwner } from '../../test/shared-engines.ts';
import { type TestEngines, applied, brief, change, only, refused, type TestPerson } from '../../test/test-engines.ts';
import { SYNC_LIMITS } from '../limits.ts';

describe('a deletion', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await sharedWithOwner()));

  const make = (model: string, payload: Record<string, unknown> = {}): Promise<string> =>
    owner.make(model, { workspaceId: workspace, ...payload });

  it('deletes all descendants, children before parents, each with an entry of its own [sync.mutate.cascade]', async () => {
    const project = await make('Project', { key: 'CASC', name: 'Cascade' });
    const task = await make('Task', { title: 'Whole', projectId: project });
    const item = await make('TaskChecklistItem', { taskId: task, title: 'Step' });
    const comment = await make('Comment', { taskId: task, body: 'Question' });
    const answer = await make('Comment', { taskId: task, body: 'Answer', parentId: comment });
    const more = await make('Comment', { taskId: task, body: 'More', parentId: answer });
    const from = await engines.head();
    const { lastId, mutations } = await owner.delete('Project', project);

    const entries = await engines.entries(from);
    const said = brief(entries, { workspace, project, task, item, comment, answer, more });
    assert.equal(said.length, 6);
    assert.deepEqual(said.slice(-2), ['DELETE task for workspace', 'DELETE project for workspace']);
    const at = (name: string): number => said.indexOf(`DELETE ${name} for workspace`);
    assert.ok(at('item') >= 0);
    assert.ok(at('more') < at('answer') && at('answer') < at('comment'));
    assert.equal(entries.at(-1)?.syncId, lastId.toString());
    assert.equal(mutations[0]?.syncId, lastId);
    assert.ok(
      entries.every(({ data, changed, record }) => Object.keys(data).length + changed.length === 0 && record.id),
    );
    for (const [model, id] of [
      ['Project', project],
      ['Task', task],
      ['Comment', more],
    ] as const)
      assert.equal(await engines.stored(model, id), null);
  });

  it('deletes any number of tasks, each with children of its own', async () => {
    const project = await make('Project', { key: 'MANY', name: 'Many' });
    const tasks = await Promise.all(
      Array.from({ length: 60 }, () => make('Task', { title: 'One', projectId: project })),
    );
    await Promise.all(tasks.map((taskId) => make('Comment', { taskId, body: 'Said' })));
    const from = await engines.head();
    await owner.delete('Project', project);
    assert.equal((await engines.entries(from)).length, 121);
    const { rows } = await engines.pool.query(`select id from sync.tasks where project_id = $1`, [project]);
    assert.deepEqual(rows, []);
  });

  it('deletes a thread of replies level by level, and the depth of threads is limited [sync.mutate.comment-depth]', async () => {
    const taskId = await make('Task', { title: 'Talk' });
    const thread: string[] = [];
    const answer = (depth: number) =>
      change('INSERT', 'Comment', (thread[depth] ??= randomUUID()), {
        workspaceId: workspace,
        taskId,
        body: 'On',
        ...(depth > 0 && { parentId: thread[depth - 1] }),
      });
    for (let depth = 0; depth < 10; depth += 1) applied(await engines.send(owner.unit(answer(depth))));
    // Comments of the same batch count too.
    const more = Array.from({ length: SYNC_LIMITS.commentDepthMax - 9 }, (_, index) => owner.unit(answer(10 + index)));
    const outcomes = await engines.any.commit(more);
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      more.map((_, index) => index < more.length - 1),
    );
    const refusal = refused(outcomes.at(-1)!);
    assert.deepEqual(
      [refusal.code, refusal.error],
      ['validation_failed', 'parentId: replies nest at most 32 levels deep; reply to a comment higher up'],
    );
    assert.equal(
      refused(await engines.send(owner.unit(answer(SYNC_LIMITS.commentDepthMax)))).code,
      'validation_failed',
    );
    await owner.delete('Comment', thread[12]!);
    await engines.sweep();
    // All comments of the task are read in one round, at any depth.
    const from = await engines.head();
    await owner.delete('Task', taskId);
    const gone = (await engines.entries(from)).map(({ modelId }) => modelId);
    assert.deepEqual(gone, [...thread.slice(0, 12).toReversed(), taskId]);
  });

  it('of a label or a team keeps the tasks and clears their references', async () => {
    const team = await make('Team', { key: 'T', name: 'Team' });
    const kept = await make('Label', { name: 'Kept' });
    const label = await make('Label', { name: 'Going', teamId: team });
    const task = await make('Task', { title: 'Next', labelIds: [label, kept], teamId: team });
    for (const [model, id, field, left] of [
      ['Label', label, 'labelIds', [kept]],
      ['Team', team, 'teamId', null],
    ] as const) {
      const from = await engines.head();
      await owner.delete(model, id);
      const [update, gone, ...rest] = await engines.entries(from);
      assert.deepEqual(rest, []);
      assert.equal(gone?.modelId, id);
      assert.deepEqual([update?.action, update?.modelId, update?.changed], ['UPDATE', task, [field]]);
      assert.deepEqual(Object.keys(update?.data ?? {}), [field, 'updatedAt']);
      assert.deepEqual((await engines.stored('Task', task))?.record[field], left);
    }
  });

  it('of a workspace deletes everything in it and nothing else, and clears no reference in a deleted record', async () => {
    const [own, other] = [await engines.person(), await engines.person()];
    const home = await engines.workspace(own);
    for (let n = 0; n < 30; n += 1) await engines.join(home, 'guest');
    await engines.decided(
      other.id,
      change('INSERT', 'WorkspaceMember', randomUUID(), { workspaceId: home, userId: other.id, role: 'member' }),
    );
    const teamId = await own.make('Team', { workspaceId: home, key: 'A', name: 'A' });
    await own.make('TeamMember', { teamId, userId: other.id });
    const projectId = await own.make('Project', { workspaceId: home, key: 'A', name: 'A', isPrivate: true, teamId });
    await own.make('ProjectMember', { projectId, userId: other.id });
    const label = await own.make('Label', { workspaceId: home, name: 'A', teamId });
    const taskId = await own.make('Task', { workspaceId: home, title: 'A', projectId, teamId, labelIds: [label] });
    await own.make('Comment', { workspaceId: home, taskId, body: 'A' });
    const elsewhere = await make('Task', { title: 'Untouched' });

    const from = await engines.head();
    await engines.decided(own.id, change('DELETE', 'Workspace', home));
    const entries = await engines.entries(from);
    assert.deepEqual(new Set(entries.map(({ action }) => action)), new Set(['DELETE']));
    assert.equal(entries.at(-1)?.modelId, home);
    for (const table of ['workspace_members', 'teams', 'projects', 'labels', 'tasks', 'comments']) {
      const { rows } = await engines.pool.query(`select id from sync.${table} where workspace_id = $1`, [home]);
      assert.deepEqual(rows, [], table);
    }
    assert.ok(await engines.stored('Task', elsewhere));
  });

  it('deletes a child that has the same id as its parent, because ids of two models may be equal', async () => {
    const id = randomUUID();
    const project = await owner.make('Project', { workspaceId: workspace, key: 'SAME', name: 'Same' }, id);
    await owner.make('Task', { workspaceId: workspace, title: 'Same', projectId: project }, id);
    await owner.delete('Project', project);
    assert.equal(await engines.stored('Task', id), null);
  });

  it('followed by an INSERT of the same id in one batch makes one new record, except of a project, whose id is never used again', async () => {
    const id = await make('Task', { title: 'Old' });
    const commentId = await make('Comment', { taskId: id, body: 'Inside' });
    const project = await make('Project', { key: 'PHOENIX', name: 'Old' });
    const again = { workspaceId: workspace, key: 'PHOENIX', name: 'Heir' };
    const outcomes = await engines.any.commit([
      owner.unit(change('DELETE', 'Task', id)),
      owner.unit(change('INSERT', 'Task', id, { workspaceId: workspace, title: 'New' })),
      owner.unit(change('UPDATE', 'Task', id, { title: 'Newer' })),
      owner.unit(change('DELETE', 'Task', id)),
      owner.unit(change('UPDATE', 'Comment', commentId, { body: 'Gone' })),
      owner.unit(change('DELETE', 'Project', project)),
      owner.unit(change('INSERT', 'Project', project, again)),
      owner.unit(change('INSERT', 'Project', randomUUID(), again)),
    ]);
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [true, true, true, true, false, true, false, true],
    );
    assert.deepEqual(refused(outcomes[4]!), { ok: false, code: 'not_found', error: 'Comment not found' });
    assert.equal(only(outcomes[2]!).record['title'], 'Newer');
    assert.equal(applied(outcomes[0]!).mutations[0]?.record['title'], 'Old');
    assert.equal(await engines.stored('Task', id), null);
  });
});
