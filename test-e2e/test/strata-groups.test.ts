import type { SyncAction } from '@stratasync/core';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { Device } from '../strata/device.ts';
import { deviceSystem, type DeviceSystem } from './device-system.ts';

describe('the published sync client', () => {
  let system: DeviceSystem;
  before(async () => (system = await deviceSystem()));

  const marker = async (device: Device): Promise<void> => {
    await device.untilShows('Task', await system.marker());
  };
  const about = (actions: readonly SyncAction[], modelId: string): SyncAction[] =>
    actions.filter((action) => action.modelId === modelId);

  describe('of a person whose groups change', () => {
    it('loads a workspace that is joined, receives its changes, and drops it when it is left [sync.membership.in-order]', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      const { workspaceId, taskId } = await system.otherWorkspace();
      const membership = randomUUID();
      await system.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'member' }, membership);
      await device.untilShows('Task', taskId, { title: 'Theirs' });
      await device.untilShows('Workspace', workspaceId, { name: 'Elsewhere' });
      const partial = device.queries.find((query) => query.get('type') === 'partial');
      assert.equal(partial?.get('syncGroups'), workspaceId);
      const second = randomUUID();
      await system.put('Task', { workspaceId, title: 'Second' }, second);
      await device.untilShows('Task', second);
      const mine = { ...system.newTask(), workspaceId };
      await device.client.create('Task', mine);
      await device.untilSettled();

      await system.remove('WorkspaceMember', membership);
      await device.untilGone('Task', taskId);
      await device.untilGone('Task', mine.id);
      await device.untilGone('Workspace', workspaceId);
      const hidden = randomUUID();
      await system.put('Task', { workspaceId, title: 'Not for them' }, hidden);
      await marker(device);
      assert.deepEqual(about(await device.received(), hidden), []);
      assert.ok(device.client.state === 'syncing');

      await system.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'guest' });
      await device.untilShows('Task', hidden);
      await device.untilShows('Task', second);
    });

    it('receives memberships that changed while it was closed [sync.membership.in-order]', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      const { workspaceId, taskId } = await system.otherWorkspace();
      const membership = randomUUID();
      await device.stop();
      await system.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'member' }, membership);
      await device.reopen();
      await device.untilShows('Task', taskId);
      await marker(device);
      await device.stop();
      await system.remove('WorkspaceMember', membership);
      const hidden = randomUUID();
      await system.put('Task', { workspaceId, title: 'Not for them' }, hidden);
      await device.reopen();
      await device.untilGone('Task', taskId);
      await marker(device);
      assert.deepEqual(about(await device.received(), hidden), []);
    });

    it('receives nothing more of a workspace from which its person was removed, and drops its records [sync.membership.in-order]', async () => {
      const ben = await system.testSystem.member('Ben');
      await using device = await Device.open(system.testSystem, ben.token);
      const task = system.newTask();
      await device.client.create('Task', task);
      await device.untilSettled();
      const [membership] = await device.client.getAll<{ id: string }>('WorkspaceMember', {
        where: (member) => (member as unknown as { userId: string }).userId === ben.userId,
      });
      await system.remove('WorkspaceMember', membership?.id ?? '');
      await device.untilGone('Task', task.id);
      const hidden = system.newTask({ title: 'Not for them' });
      await system.put('Task', hidden, hidden.id);
      const own = { name: 'Still reached' };
      await system.testSystem.commit([{ modelName: 'User', modelId: ben.userId, action: 'UPDATE', payload: own }]);
      await device.untilShows('User', ben.userId, own);
      assert.deepEqual(about(await device.received(), hidden.id), []);
      assert.deepEqual(await device.client.getAll('Task', { includeArchived: true }), []);
      const late = system.newTask();
      await device.client.create('Task', late);
      await device.untilSettled();
      assert.equal(device.shows('Task', late.id), null);
    });

    it('has the content of a private project while its person is a member [sync.private-project.walls]', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      const { projectId, taskId } = await system.privateProject();
      await marker(device);
      assert.equal(device.shows('Project', projectId), null);
      const membership = randomUUID();
      await system.put('ProjectMember', { projectId, userId: ann.userId }, membership);
      await device.untilShows('Task', taskId);
      await device.untilShows('Project', projectId);
      await system.remove('ProjectMember', membership);
      await device.untilGone('Task', taskId);
      await device.untilGone('Project', projectId);
      const hidden = randomUUID();
      await system.put(
        'Task',
        { workspaceId: system.testSystem.workspaceId, projectId, title: 'Not for them' },
        hidden,
      );
      await marker(device);
      assert.deepEqual(about(await device.received(), hidden), []);
    });

    it('drops a task that moves into a private project, and gets it again when it moves out', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      const { projectId } = await system.privateProject();
      const task = system.newTask({ title: 'Moves' });
      await device.client.create('Task', task);
      await device.untilSettled();
      const move = (target: string | null): Promise<unknown> =>
        system.testSystem.commit([
          { modelName: 'Task', modelId: task.id, action: 'UPDATE', payload: { projectId: target } },
        ]);
      await move(projectId);
      await device.untilGone('Task', task.id);
      await move(null);
      await device.untilShows('Task', task.id, { title: 'Moves', projectId: null });
    });
  });

  describe('whose cursor the log does not reach', () => {
    it('loads a new snapshot when the next entries were trimmed, keeps unsent changes, and receives new ones [sync.deltas.stale-cursor]', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      const gone = system.newTask({ title: 'Deleted meanwhile' });
      await device.client.create('Task', gone);
      await device.untilSettled();
      device.goOffline();
      const unsent = system.newTask({ title: 'Not sent yet' });
      await device.client.create('Task', unsent);
      await device.stop();
      await system.remove('Task', gone.id);
      const missed = system.newTask({ title: 'Missed' });
      await system.put('Task', missed, missed.id);
      await system.trimLog();
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

    it('loads a workspace that was joined before the next entries were trimmed [sync.client.compatible]', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      await device.stop();
      const { workspaceId, taskId } = await system.otherWorkspace();
      await system.put('WorkspaceMember', { workspaceId, userId: ann.userId, role: 'member' });
      await system.trimLog();
      await device.reopen();
      await device.untilShows('Task', taskId);
      const next = randomUUID();
      await system.put('Task', { workspaceId, title: 'Next' }, next);
      await device.untilShows('Task', next);
    });

    it('loads a new snapshot when its cursor is of another log, such as after a restored backup [sync.deltas.stale-cursor]', async () => {
      const ann = await system.testSystem.member('Ann');
      await using device = await Device.open(system.testSystem, ann.token);
      await device.stop();
      await device.setCursor('900000000000');
      await device.reopen();
      // The client shows the records before it stores the new cursor, and passes over what it receives in between.
      await eventually(() => BigInt(device.client.lastSyncId) < 900000000000n);
      assert.ok(device.requests.includes('GET /sync/bootstrap'));
      await marker(device);
    });
  });
});
