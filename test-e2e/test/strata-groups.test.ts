import type { SyncAction } from '@stratasync/core';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { Device } from '../strata/device.ts';
import { Arranged } from './arrange.ts';

describe('the published sync client', function () {
  this.timeout(60_000);
  let arranged: Arranged;
  before(async () => {
    arranged = await Arranged.open('strata_groups');
  });
  after(() => arranged[Symbol.asyncDispose]());

  const marker = async (device: Device): Promise<void> => {
    await device.untilShows('Task', await arranged.marker());
  };
  const about = (actions: readonly SyncAction[], modelId: string): SyncAction[] =>
    actions.filter((action) => action.modelId === modelId);

  describe('of somebody whose groups change', () => {
    it('loads a workspace that is joined, hears what happens in it, and drops it when it is left [sync.membership.in-order]', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      const { workspaceId, taskId } = await arranged.elsewhere();
      const membership = randomUUID();
      await arranged.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'member' }, membership);
      await device.untilShows('Task', taskId, { title: 'Theirs' });
      await device.untilShows('Workspace', workspaceId, { name: 'Elsewhere' });
      const partial = device.queries.find((query) => query.get('type') === 'partial');
      assert.equal(partial?.get('syncGroups'), workspaceId);
      const second = randomUUID();
      await arranged.put('Task', { workspaceId, title: 'Second' }, second);
      await device.untilShows('Task', second);
      const mine = { ...arranged.newTask(), workspaceId };
      await device.client.create('Task', mine);
      await device.untilSettled();

      await arranged.remove('WorkspaceMember', membership);
      await device.untilGone('Task', taskId);
      await device.untilGone('Task', mine.id);
      await device.untilGone('Workspace', workspaceId);
      const hidden = randomUUID();
      await arranged.put('Task', { workspaceId, title: 'Not for them' }, hidden);
      await marker(device);
      assert.deepEqual(about(await device.heard(), hidden), []);
      assert.ok(device.client.state === 'syncing');

      await arranged.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'guest' });
      await device.untilShows('Task', hidden);
      await device.untilShows('Task', second);
    });

    it('hears of what changed while it was closed: joined, or left [sync.membership.in-order]', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      const { workspaceId, taskId } = await arranged.elsewhere();
      const membership = randomUUID();
      await device.stop();
      await arranged.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'member' }, membership);
      await device.reopen();
      await device.untilShows('Task', taskId);
      await marker(device);
      await device.stop();
      await arranged.remove('WorkspaceMember', membership);
      const hidden = randomUUID();
      await arranged.put('Task', { workspaceId, title: 'Not for them' }, hidden);
      await device.reopen();
      await device.untilGone('Task', taskId);
      await marker(device);
      assert.deepEqual(about(await device.heard(), hidden), []);
    });

    it('hears no more of the one workspace its person was removed from, and has nothing of it left [sync.membership.in-order]', async () => {
      const ben = await arranged.testSystem.member('Ben');
      await using device = await Device.open(arranged.testSystem, ben.token);
      const task = arranged.newTask();
      await device.client.create('Task', task);
      await device.untilSettled();
      const [membership] = await device.client.getAll<{ id: string }>('WorkspaceMember', {
        where: (member) => (member as unknown as { userId: string }).userId === ben.userId,
      });
      await arranged.remove('WorkspaceMember', membership?.id ?? '');
      await device.untilGone('Task', task.id);
      const hidden = arranged.newTask({ title: 'Not for them' });
      await arranged.put('Task', hidden, hidden.id);
      const own = { name: 'Still reached' };
      await arranged.testSystem.commit([{ modelName: 'User', modelId: ben.userId, action: 'UPDATE', payload: own }]);
      await device.untilShows('User', ben.userId, own);
      assert.deepEqual(about(await device.heard(), hidden.id), []);
      assert.deepEqual(await device.client.getAll('Task', { includeArchived: true }), []);
      const late = arranged.newTask();
      await device.client.create('Task', late);
      await device.untilSettled();
      assert.equal(device.shows('Task', late.id), null);
    });

    it('sees inside a private project while its person is in it [sync.private-project.walls]', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      const { projectId, taskId } = await arranged.secret();
      await marker(device);
      assert.equal(device.shows('Project', projectId), null);
      const membership = randomUUID();
      await arranged.put('ProjectMember', { projectId, userId: ann.userId }, membership);
      await device.untilShows('Task', taskId);
      await device.untilShows('Project', projectId);
      await arranged.remove('ProjectMember', membership);
      await device.untilGone('Task', taskId);
      await device.untilGone('Project', projectId);
      const hidden = randomUUID();
      await arranged.put(
        'Task',
        { workspaceId: arranged.testSystem.workspaceId, projectId, title: 'Not for them' },
        hidden,
      );
      await marker(device);
      assert.deepEqual(about(await device.heard(), hidden), []);
    });

    it('loses sight of a task that moves into a private project, and sees it again when it moves out', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      const { projectId } = await arranged.secret();
      const task = arranged.newTask({ title: 'Moves' });
      await device.client.create('Task', task);
      await device.untilSettled();
      const move = (target: string | null): Promise<unknown> =>
        arranged.testSystem.commit([
          { modelName: 'Task', modelId: task.id, action: 'UPDATE', payload: { projectId: target } },
        ]);
      await move(projectId);
      await device.untilGone('Task', task.id);
      await move(null);
      await device.untilShows('Task', task.id, { title: 'Moves', projectId: null });
    });
  });

  describe('whose cursor the log does not reach', () => {
    it('loads everything anew when what follows was trimmed, keeps what it has not sent, and hears what is new [sync.deltas.stale-cursor]', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      const gone = arranged.newTask({ title: 'Deleted meanwhile' });
      await device.client.create('Task', gone);
      await device.untilSettled();
      device.goOffline();
      const unsent = arranged.newTask({ title: 'Not sent yet' });
      await device.client.create('Task', unsent);
      await device.stop();
      await arranged.remove('Task', gone.id);
      const missed = arranged.newTask({ title: 'Missed' });
      await arranged.put('Task', missed, missed.id);
      await arranged.trimLog();
      device.goOnline();
      await device.reopen();
      await device.untilShows('Task', missed.id);
      await device.untilGone('Task', gone.id);
      await device.untilSettled();
      await marker(device);
      await device.untilShows('Task', unsent.id);
      assert.ok(device.requests.includes('GET /sync/bootstrap'));
      await device.untilLive();
    });

    it('finds a workspace that was joined while it was away for so long [sync.client.compatible]', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      await device.stop();
      const { workspaceId, taskId } = await arranged.elsewhere();
      await arranged.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'member' });
      await arranged.trimLog();
      await device.reopen();
      await device.untilShows('Task', taskId);
      const next = randomUUID();
      await arranged.put('Task', { workspaceId, title: 'Next' }, next);
      await device.untilShows('Task', next);
    });

    it('loads everything anew when its cursor is of another log, such as after a restored backup [sync.deltas.stale-cursor]', async () => {
      const ann = await arranged.testSystem.member('Ann');
      await using device = await Device.open(arranged.testSystem, ann.token);
      await device.stop();
      await device.misplaceCursor('900000000000');
      await device.reopen();
      await marker(device);
      assert.ok(device.requests.includes('GET /sync/bootstrap'));
      // What it loads is shown before it notes how far that reaches.
      await eventually(() => BigInt(device.client.lastSyncId) < 900000000000n);
    });
  });
});
