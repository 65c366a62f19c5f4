import { WordsDevice } from '../words/device.ts';
import type { Person } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DeviceSystem } from './device-system.ts';

describe('a client written from the specification', () => {
  let system: DeviceSystem;
  let ann: Person;
  let phone: WordsDevice;
  let laptop: WordsDevice;
  before(async () => {
    system = await DeviceSystem.open('words');
    ann = await system.testSystem.member('Ann');
    phone = await WordsDevice.open(system.testSystem, ann);
    laptop = await WordsDevice.open(system.testSystem, ann);
  });
  after(async () => {
    await phone[Symbol.asyncDispose]();
    await laptop[Symbol.asyncDispose]();
    await system[Symbol.asyncDispose]();
  });

  const make = async (device: WordsDevice, more: object = {}): Promise<string> => {
    const { id, ...payload } = system.newTask(more);
    await device.do('INSERT', 'Task', id, payload);
    return id;
  };
  const shared = async (more: object = {}): Promise<string> => {
    const id = await make(phone, more);
    await Promise.all([phone.untilShows(id), laptop.untilShows(id)]);
    return id;
  };
  const marker = async (device: WordsDevice): Promise<void> => {
    await device.untilShows(await system.marker());
  };

  it('shows on one device what another does, with what the server assigned [sync.action.words, sync.mutate.server-assigned]', async () => {
    const id = await shared({ title: 'Seen on both', priority: 1 });
    await laptop.do('UPDATE', 'Task', id, { title: 'Changed on the other' });
    const row = await phone.untilShows(id, { title: 'Changed on the other', priority: 1, creatorId: ann.userId });
    assert.equal(typeof row['number'], 'number');
    assert.deepEqual(await laptop.untilShows(id, { title: 'Changed on the other' }), row);
  });

  it('sends its offline changes when it is online again, and the last writer wins for each field [sync.action.update-changed-only, sync.mutate.order]', async () => {
    const id = await shared({ title: 'Both', description: 'Both' });
    await phone.goOffline();
    const made = await make(phone, { title: 'Made offline' });
    await phone.do('UPDATE', 'Task', made, { title: 'Renamed offline' });
    await phone.do('UPDATE', 'Task', id, { priority: 4, title: 'Of the phone' });
    await laptop.do('UPDATE', 'Task', id, { title: 'Of the laptop', description: 'Of the laptop' });
    await laptop.untilShows(id, { title: 'Of the laptop' });
    await phone.goOnline();
    const merged = { title: 'Of the phone', description: 'Of the laptop', priority: 4 };
    await Promise.all([phone.untilShows(id, merged), laptop.untilShows(id, merged)]);
    await laptop.untilShows(made, { title: 'Renamed offline' });
    for (const { action, data } of laptop.received) {
      if (action === 'UPDATE') assert.ok(!('id' in data) && Object.keys(data).length <= 4, JSON.stringify(data));
    }
  });

  it('archives, unarchives and deletes a record with its content [sync.mutate.archive, sync.mutate.cascade]', async () => {
    const id = await shared();
    const item = randomUUID();
    const { workspaceId } = system.testSystem;
    await phone.do('INSERT', 'TaskChecklistItem', item, { workspaceId, taskId: id, title: 'Step' });
    await phone.do('ARCHIVE', 'Task', id);
    await laptop.untilShows(item);
    await marker(laptop);
    assert.match(String(laptop.shows(id)?.['archivedAt']), /^\d{4}-\d\d-\d\dT.*Z$/);
    await laptop.do('UNARCHIVE', 'Task', id);
    await marker(phone);
    assert.equal(phone.shows(id)?.['archivedAt'], null);
    await laptop.do('DELETE', 'Task', id);
    await phone.untilGone(id);
    await phone.untilGone(item);
    const reply = await phone.do('UPDATE', 'Task', id, { title: 'Too late' });
    assert.deepEqual([reply?.success, reply?.results[0]?.code], [false, 'not_found']);
  });

  it('gets the refusal of a transaction, and the rest of the batch is applied [sync.mutate.results]', async () => {
    const id = await shared({ priority: 1 });
    const reply = await phone.do('UPDATE', 'Task', id, { priority: 9 });
    assert.equal(reply?.success, false);
    assert.match(reply?.results[0]?.error ?? '', /^priority /);
    await marker(laptop);
    assert.equal(laptop.shows(id)?.['priority'], 1);
  });

  it('sends dates and times in any of three formats, and receives one format [sync.mutate.dates]', async () => {
    const id = await shared({ startDate: Date.UTC(2026, 10, 22), deadlineAt: '2026-11-23T10:00:00+02:00' });
    await phone.do('UPDATE', 'Task', id, { completedAt: Date.UTC(2026, 10, 22, 9, 30, 15, 250) });
    await laptop.untilShows(id, {
      startDate: '2026-11-22',
      deadlineAt: '2026-11-23',
      completedAt: '2026-11-22T09:30:15.250Z',
    });
  });

  it('continues from its cursor after a restart, and sends hundreds of changes in batches of a hundred', async () => {
    await phone.goOffline();
    const ids: string[] = [];
    for (let index = 0; index < 250; index += 1) ids.push(await make(phone, { title: `Task ${index}` }));
    const { loads } = phone;
    await phone.goOnline();
    for (const id of ids) await laptop.untilShows(id);
    await phone.untilShows(ids.at(-1) ?? '');
    assert.equal(phone.loads, loads);
    for (const id of ids) assert.equal(laptop.received.filter(({ modelId }) => modelId === id).length, 1);
  });

  it('loads records by key and by group [sync.batch.requests, sync.batch.ndjson]', async () => {
    const id = await shared();
    const { workspaceId } = system.testSystem;
    const comment = await system.put('Comment', { workspaceId, taskId: id, body: 'Said' });
    const byKey = await phone.batch({ modelName: 'Comment', indexedKey: 'taskId', keyValue: id });
    assert.deepEqual(
      byKey.map((row) => [row['__class'], row['id'], row['body']]),
      [['Comment', comment, 'Said']],
    );
    const byGroup = await phone.batch({ modelName: 'Comment', groupId: workspaceId });
    assert.ok(byGroup.some((row) => row['id'] === comment));
  });

  it('sends a change again whose reply was lost, and it is applied once [sync.mutate.idempotent, never.applied-twice]', async () => {
    const { id, ...payload } = system.newTask({ title: 'Its answer got lost' });
    let sending: Promise<unknown> = Promise.resolve();
    await system.loseReplyTo(id, () => {
      sending = phone.do('INSERT', 'Task', id, payload);
      return Promise.resolve();
    });
    await sending;
    assert.deepEqual(await system.logged(id), ['INSERT']);
    for (const device of [phone, laptop]) {
      await device.goOffline();
      await device.goOnline();
      await device.untilShows(id);
    }
  });

  it('gains and loses a workspace in the order of the log, also while it is offline [sync.membership.in-order]', async () => {
    const { workspaceId, taskId } = await system.otherWorkspace();
    const joining = { workspaceId, userId: ann.userId, role: 'member' };
    const membership = await system.put('WorkspaceMember', joining);
    await phone.untilShows(taskId);
    await phone.goOffline();
    await system.remove('WorkspaceMember', membership);
    const hidden = await system.put('Task', { workspaceId, title: 'Not for them' });
    await laptop.untilGone(taskId);
    await phone.goOnline();
    await phone.untilGone(taskId);
    await Promise.all([marker(phone), marker(laptop)]);
    for (const device of [phone, laptop]) assert.ok(!device.received.some(({ modelId }) => modelId === hidden));
    await system.put('WorkspaceMember', joining);
    await phone.untilShows(hidden);
  });

  it('has the content of a private project while its person is a member [sync.private-project.walls]', async () => {
    const { projectId, taskId } = await system.privateProject();
    await marker(phone);
    assert.equal(phone.shows(projectId), undefined);
    const membership = await system.put('ProjectMember', { projectId, userId: ann.userId });
    await phone.untilShows(taskId);
    await system.remove('ProjectMember', membership);
    await phone.untilGone(taskId);
    const hidden = await system.put('Task', {
      workspaceId: system.testSystem.workspaceId,
      projectId,
      title: 'Hidden',
    });
    await marker(phone);
    assert.ok(!phone.received.some(({ modelId }) => modelId === hidden));
  });

  it('loads a new snapshot when its cursor is below or above the log [sync.deltas.stale-cursor]', async () => {
    const id = await shared();
    await phone.goOffline();
    await system.remove('Task', id);
    const missed = await system.put('Task', { workspaceId: system.testSystem.workspaceId, title: 'Missed' });
    await system.trimLog();
    const { loads } = phone;
    await phone.goOnline();
    assert.equal(phone.loads, loads + 1);
    await phone.untilShows(missed);
    assert.equal(phone.shows(id), undefined);
    await phone.goOffline();
    phone.setCursor('900000000000');
    await phone.goOnline();
    assert.equal(phone.loads, loads + 2);
    await marker(phone);
  });
});
