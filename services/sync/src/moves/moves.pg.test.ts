import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Fault, type DeltasReply } from '@wts/contracts';
import { socketOf } from '@wts/testkit';
import { assertLogIsState } from '../../test/fold.ts';
import { openTestReplica } from '../../test/replica.ts';
import { applied, change, only, refused, TestPerson } from '../../test/test-engines.ts';
import { TestCell, TestMove } from '../../test/two-cells.ts';
import { deltasSources, readDeltas } from '../deltas/read-deltas.ts';
import { deleteExpiredCopies } from '../schedule/moved-workspaces.ts';

const NEW_URL = 'https://two.example';

const refuses = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;

describe('a workspace that moves to another cell', () => {
  let one: TestCell;
  let two: TestCell;
  before(async () => ([one, two] = await Promise.all([TestCell.open('cell_one'), TestCell.open('cell_two')])));
  after(async () => {
    await one[Symbol.asyncDispose]();
    await two[Symbol.asyncDispose]();
  });

  /** In the first cell, with some of everything. */
  async function filled(): Promise<{ workspaceId: string; owner: TestPerson; member: TestPerson; project: string }> {
    const owner = await one.engines.person('Owner');
    const workspaceId = await one.engines.workspace(owner);
    const member = await one.engines.join(workspaceId, 'member');
    const gone = await one.engines.join(workspaceId, 'member');
    const own = { workspaceId };
    const team = await owner.make('Team', { ...own, key: 'T', name: 'Team' });
    await owner.make('TeamMember', { teamId: team, userId: member.id });
    const label = await owner.make('Label', { ...own, name: 'Label' });
    const project = await owner.make('Project', { ...own, key: 'HID', name: 'Hidden', isPrivate: true });
    await owner.make('ProjectMember', { projectId: project, userId: gone.id });
    const task = await owner.make('Task', { ...own, title: 'A task', projectId: project, labelIds: [label] });
    const comment = await owner.make('Comment', { ...own, taskId: task, body: 'First' });
    await owner.make('Comment', { ...own, taskId: task, body: 'Reply', parentId: comment });
    await owner.make('TaskChecklistItem', { ...own, taskId: task, title: 'Item' });
    const archived = await owner.make('Task', { ...own, title: 'In the Trash' });
    applied(await owner.try('ARCHIVE', 'Task', archived));
    await owner.delete('Task', await owner.make('Task', { ...own, title: 'Deleted' }));
    const membership = (await one.pages(workspaceId, 'WorkspaceMember')).records.find(
      ({ record }) => record?.['userId'] === gone.id,
    );
    await owner.delete('WorkspaceMember', membership!.id);
    return { workspaceId, owner, member, project };
  }

  const inTwo = ({ id }: TestPerson): TestPerson => new TestPerson(two.engines, id);

  it('arrives as it is, whatever was changed meanwhile [cells.move.equal]', async () => {
    const { workspaceId, owner, project } = await filled();
    const move = new TestMove(one, two, workspaceId);
    const write = async (round: string): Promise<void> => {
      for (let n = 0; n < 6; n += 1) {
        const own = { workspaceId, projectId: n % 2 ? project : null };
        const task = await owner.make('Task', { ...own, title: `Task ${n}` });
        await owner.change('Task', task, { title: `Changed ${n}`, projectId: n % 3 ? project : null });
        if (n % 4 === 0) await owner.delete('Task', task);
        const key = n % 2 ? 'A' : 'B';
        const made = await owner.make('Project', { workspaceId, key, name: key });
        await owner.change('Project', made, { key: `${key}${round}${n}` });
      }
    };
    for (const round of ['X', 'Y']) await Promise.all([write(round), move.copy(7).then(() => move.follow(7))]);
    await move.freeze();
    await move.follow();
    await move.copyLast();
    assert.deepEqual(await two.digests(workspaceId), await one.digests(workspaceId));
    const head = await two.engines.head();
    await move.copyLast();
    await move.follow();
    assert.equal(await two.engines.head(), head, 'what is equal was written again');
    await move.switch(NEW_URL);
    await assertLogIsState(await two.engines.entries(), two.engines.checks);
    const last = (await one.pages(workspaceId, 'TaskCounter')).records[0]?.record?.['lastNumber'] as number;
    const made = only(await inTwo(owner).try('INSERT', 'Task', randomUUID(), { workspaceId, title: 'Next' }));
    assert.equal(made.record['number'], last + 1);
  });

  it('has swapped unique values in the end, which no statement can write together [cells.move.equal]', async () => {
    const owner = await one.engines.person();
    const workspaceId = await one.engines.workspace(owner);
    const [a, b] = [
      await owner.make('Project', { workspaceId, key: 'A', name: 'A' }),
      await owner.make('Project', { workspaceId, key: 'B', name: 'B' }),
    ];
    const move = new TestMove(one, two, workspaceId);
    await move.copy();
    await owner.change('Project', a, { key: 'C' });
    await owner.change('Project', b, { key: 'A' });
    await owner.change('Project', a, { key: 'B' });
    await move.follow();
    await move.freeze();
    await move.follow();
    await move.copyLast();
    assert.deepEqual(await two.digests(workspaceId), await one.digests(workspaceId));
  });

  it('accepts changes in one cell at most, on no replica and by no service [cells.move.one-writer]', async () => {
    const { workspaceId, owner } = await filled();
    const move = new TestMove(one, two, workspaceId);
    const task = { workspaceId, title: 'Task' };
    const insert = () => owner.unit(change('INSERT', 'Task', randomUUID(), task));
    // The caches of both replicas have the workspace, so the fast path decides.
    for (const engine of one.engines.all)
      for (let n = 0; n < 2; n += 1) applied(await one.engines.send(insert(), engine));
    await move.copy();
    const frozen = BigInt((await move.freeze()).lastSyncId);
    for (const engine of one.engines.all.toReversed()) {
      assert.equal(refused(await one.engines.send(insert(), engine)).code, 'unavailable');
      const decided = { ...insert(), authority: 'service' as const };
      assert.equal(refused(await one.engines.send(decided, engine)).code, 'unavailable');
    }
    await owner.change('User', owner.id, { name: 'Renamed' });
    const later = (await one.engines.entries(frozen)).filter(({ modelName }) => modelName !== 'User');
    assert.deepEqual(later, []);
    await move.follow();
    await move.copyLast();
    const unit = inTwo(owner).unit(change('INSERT', 'Task', randomUUID(), task));
    for (const engine of two.engines.all)
      assert.equal(refused(await two.engines.send(unit, engine)).code, 'unavailable');
    // Given up: everything is as before.
    await one.moves.setState({ workspaceId, state: 'none' });
    await two.moves.setState({ workspaceId, state: 'removed' });
    await one.engines.all[1]!.archivedWorkspaces.refresh();
    for (const engine of one.engines.all) applied(await one.engines.send(insert(), engine));
    await assert.rejects(two.moves.put({ workspaceId, records: [] }), refuses('conflict'));
  });

  it('does not apply a change again that was committed before [cells.move.once]', async () => {
    const { workspaceId, owner } = await filled();
    const task = await owner.make('Task', { workspaceId, title: 'First' });
    const unit = owner.unit(change('UPDATE', 'Task', task, { title: 'Second' }));
    applied(await one.engines.send(unit));
    const late = owner.unit(change('UPDATE', 'Task', task, { priority: 2 }));
    const move = new TestMove(one, two, workspaceId);
    await move.copy();
    applied(await one.engines.send(late));
    await owner.change('Task', task, { title: 'Third', priority: 3 });
    await move.follow();
    await move.freeze();
    await move.follow();
    await move.copyLast();
    await move.switch(NEW_URL);
    const head = await two.engines.head();
    for (const engine of two.engines.all)
      for (const again of [unit, late]) {
        const { replayed, lastId, mutations } = applied(await two.engines.send(again, engine));
        assert.ok(replayed && lastId <= head);
        assert.equal(mutations[0]?.record.id, task);
      }
    assert.equal(await two.engines.head(), head);
    assert.equal((await two.engines.stored('Task', task))!.record['title'], 'Third');
  });

  it('is lost by its people in the order of the log, and refusals name its address [cells.move.refused]', async () => {
    const { workspaceId, owner, member } = await filled();
    const elsewhere = await one.engines.workspace(member);
    const replica = await openTestReplica({ pool: one.engines.checks, pollMs: 5 });
    try {
      const after = (await one.engines.head()).toString();
      await using socket = await socketOf(replica, { token: member.id, after });
      const move = new TestMove(one, two, workspaceId);
      await owner.make('Task', { workspaceId, title: 'Last' });
      await socket.until(({ actions }) => actions.some(({ data }) => data['title'] === 'Last'));
      // By an auth of a version that names no address, until it is updated.
      await move.all('');
      await one.moves.setState({ workspaceId, state: 'moved', baseUrl: NEW_URL });
      await member.make('Task', { workspaceId: elsewhere, title: 'Goes on' });
      await socket.until(({ actions }) => actions.some(({ data }) => data['title'] === 'Goes on'));
      const text = await readDeltas(deltasSources(one.engines.checks, null), {
        userId: member.id,
        after: BigInt(after),
        limit: 1000,
        requested: new Set(),
        spelling: 'words',
      });
      // The others may leave before.
      const shown = (actions: DeltasReply['actions']): string[] =>
        actions
          .filter(({ modelName, groupId }) => modelName !== 'WorkspaceMember' || groupId === member.id)
          .map(({ action, modelName }) => `${action} ${modelName}`);
      const polled = shown((JSON.parse(text) as DeltasReply).actions);
      assert.deepEqual(polled, ['DELETE WorkspaceMember', 'INSERT Task']);
      assert.deepEqual(shown(socket.actions), ['INSERT Task', ...polled]);
    } finally {
      await replica[Symbol.asyncDispose]();
    }
    for (const engine of one.engines.all) {
      await engine.archivedWorkspaces.refresh();
      const unit = member.unit(change('INSERT', 'Task', randomUUID(), { workspaceId, title: 'Late' }));
      const { code, error } = refused(await one.engines.send(unit, engine));
      assert.ok(code === 'not_found' && error.includes(NEW_URL), error);
    }
    applied(await inTwo(member).try('INSERT', 'Task', randomUUID(), { workspaceId, title: 'There' }));
    const stranger = await one.engines.person();
    const { error } = refused(await stranger.try('INSERT', 'Task', randomUUID(), { workspaceId, title: 'No' }));
    assert.ok(!error.includes(NEW_URL));
  });

  it('leaves no copy after a day, and may move back [cells.move.equal]', async () => {
    const { workspaceId, owner } = await filled();
    await new TestMove(one, two, workspaceId).all();
    await inTwo(owner).make('Task', { workspaceId, title: 'Made there' });
    const back = new TestMove(two, one, workspaceId);
    const deleteCopies = async (): Promise<void> => {
      const [engine] = one.engines.all;
      await engine!.archivedWorkspaces.refresh();
      await deleteExpiredCopies({ pool: one.engines.pool, engine: engine! });
      await one.engines.sweep();
    };
    await deleteCopies();
    assert.ok((await one.pages(workspaceId, 'Task')).records.length > 0, 'the copy is kept for a day');
    // The copy of before is in the way, so it is deleted now.
    await assert.rejects(back.copy(), refuses('unavailable'));
    await deleteCopies();
    await deleteCopies();
    for (const table of ['tasks', 'projects', 'workspace_members', 'project_members', 'comments', 'task_counters']) {
      const sql = `select from sync.${table} where workspace_id = $1`;
      assert.equal((await one.engines.checks.query(sql, [workspaceId])).rowCount, 0, table);
    }
    await back.all('https://one.example');
    assert.equal(
      only(await owner.try('INSERT', 'Task', randomUUID(), { workspaceId, title: 'Home' })).record['number'],
      5,
    );
    await assertLogIsState(await one.engines.entries(), one.engines.checks);
  });

  it('touches no record of another workspace [cells.move.foreign]', async () => {
    const { workspaceId, owner } = await filled();
    const stranger = await two.engines.person();
    const foreign = await two.engines.workspace(stranger);
    const id = await stranger.make('Task', { workspaceId: foreign, title: 'Theirs' });
    await owner.make('Task', { workspaceId, title: 'Same id' }, id);
    await assert.rejects(new TestMove(one, two, workspaceId).copy(), refuses('conflict'));
    const membership = (await one.pages(workspaceId, 'WorkspaceMember')).records[0]!;
    const check = (id: string, more = {}): Promise<unknown> =>
      two.moves.put({
        workspaceId,
        records: [{ ...membership, id, record: { ...membership.record, id, ...more } }],
        isCheck: true,
      });
    const head = await two.engines.head();
    await check(membership.id);
    const [theirs] = (await two.pages(foreign, 'WorkspaceMember')).records;
    await assert.rejects(check(theirs!.id), refuses('conflict'));
    await assert.rejects(check(membership.id, { userId: randomUUID() }), /is not in this cell yet/);
    assert.equal(await two.engines.head(), head, 'a check writes nothing');
    const put = { model: 'Task', id, groupId: workspaceId, record: null };
    await assert.rejects(two.moves.put({ workspaceId, records: [put] }), refuses('conflict'));
    assert.equal((await two.engines.stored('Task', id))!.record['title'], 'Theirs');
  });
});
