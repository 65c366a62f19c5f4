import { WordsDevice } from '../words/device.ts';
import type { Person } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Arranged } from './arrange.ts';

describe('a client written from the specification', function () {
  this.timeout(60_000);
  let arranged: Arranged;
  let ann: Person;
  let phone: WordsDevice;
  let laptop: WordsDevice;
  before(async () => {
    arranged = await Arranged.open('words');
    ann = await arranged.testSystem.member('Ann');
    phone = await WordsDevice.open(arranged.testSystem, ann);
    laptop = await WordsDevice.open(arranged.testSystem, ann);
  });
  after(async () => {
    await phone[Symbol.asyncDispose]();
    await laptop[Symbol.asyncDispose]();
    await arranged[Symbol.asyncDispose]();
  });

  const make = async (device: WordsDevice, more: object = {}): Promise<string> => {
    const { id, ...payload } = arranged.newTask(more);
    await device.do('INSERT', 'Task', id, payload);
    return id;
  };
  const shared = async (more: object = {}): Promise<string> => {
    const id = await make(phone, more);
    await Promise.all([phone.untilShows(id), laptop.untilShows(id)]);
    return id;
  };
  const marker = async (device: WordsDevice): Promise<void> => {
    await device.untilShows(await arranged.marker());
  };

  it('shows on one device what another does, with what the server assigned [sync.action.words, sync.mutate.server-assigned]', async () => {
    const id = await shared({ title: 'Seen on both', priority: 1 });
    await laptop.do('UPDATE', 'Task', id, { title: 'Changed on the other' });
    const row = await phone.untilShows(id, { title: 'Changed on the other', priority: 1, creatorId: ann.userId });
    assert.equal(typeof row['number'], 'number');
    assert.deepEqual(await laptop.untilShows(id, { title: 'Changed on the other' }), row);
  });

  it('sends what it did offline once it is back, and the last writer wins for each field [sync.action.update-changed-only, sync.mutate.order]', async () => {
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
    for (const { action, data } of laptop.heard) {
      if (action === 'UPDATE') assert.ok(!('id' in data) && Object.keys(data).length <= 4, JSON.stringify(data));
    }
  });

  it('archives, takes back and deletes, with what was inside [sync.mutate.archive, sync.mutate.cascade]', async () => {
    const id = await shared();
    const item = randomUUID();
    const { workspaceId } = arranged.testSystem;
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

  it('is told what is refused, and the rest of the batch is taken [sync.mutate.results]', async () => {
    const id = await shared({ priority: 1 });
    const reply = await phone.do('UPDATE', 'Task', id, { priority: 9 });
    assert.equal(reply?.success, false);
    assert.match(reply?.results[0]?.error ?? '', /^priority /);
    await marker(laptop);
    assert.equal(laptop.shows(id)?.['priority'], 1);
  });

  it('gives days and moments in any of three spellings, and reads them in one [sync.mutate.dates]', async () => {
    const id = await shared({ startDate: Date.UTC(2026, 10, 22), deadlineAt: '2026-11-23T10:00:00+02:00' });
    await phone.do('UPDATE', 'Task', id, { completedAt: Date.UTC(2026, 10, 22, 9, 30, 15, 250) });
    await laptop.untilShows(id, {
      startDate: '2026-11-22',
      deadlineAt: '2026-11-23',
      completedAt: '2026-11-22T09:30:15.250Z',
    });
  });

  it('goes on from its cursor after a restart, and sends hundreds of changes in batches of a hundred', async () => {
    await phone.goOffline();
    const ids: string[] = [];
    for (let index = 0; index < 250; index += 1) ids.push(await make(phone, { title: `Task ${index}` }));
    const { loads } = phone;
    await phone.goOnline();
    for (const id of ids) await laptop.untilShows(id);
    await phone.untilShows(ids.at(-1) ?? '');
    assert.equal(phone.loads, loads);
    for (const id of ids) assert.equal(laptop.heard.filter(({ modelId }) => modelId === id).length, 1);
  });

  it('loads records by key and by group [sync.batch.requests, sync.batch.ndjson]', async () => {
    const id = await shared();
    const { workspaceId } = arranged.testSystem;
    const comment = await arranged.put('Comment', { workspaceId, taskId: id, body: 'Said' });
    const byKey = await phone.batch({ modelName: 'Comment', indexedKey: 'taskId', keyValue: id });
    assert.deepEqual(
      byKey.map((row) => [row['__class'], row['id'], row['body']]),
      [['Comment', comment, 'Said']],
    );
    const byGroup = await phone.batch({ modelName: 'Comment', groupId: workspaceId });
    assert.ok(byGroup.some((row) => row['id'] === comment));
  });

  it('sends again what was taken while the answer got lost, and it is taken once [sync.mutate.idempotent, never.applied-twice]', async () => {
    const { id, ...payload } = arranged.newTask({ title: 'Its answer got lost' });
    let sending: Promise<unknown> = Promise.resolve();
    await arranged.loseAnswerOf(id, () => {
      sending = phone.do('INSERT', 'Task', id, payload);
      return Promise.resolve();
    });
    await sending;
    assert.deepEqual(await arranged.logged(id), ['INSERT']);
    for (const device of [phone, laptop]) {
      await device.goOffline();
      await device.goOnline();
      await device.untilShows(id);
    }
  });

  it('gains and loses a workspace in the order of the log, also while it is away [sync.membership.in-order]', async () => {
    const { workspaceId, taskId } = await arranged.elsewhere();
    const joining = { workspaceId, userId: ann.userId, role: 'member' };
    const membership = await arranged.put('WorkspaceMember', joining);
    await phone.untilShows(taskId);
    await phone.goOffline();
    await arranged.remove('WorkspaceMember', membership);
    const hidden = await arranged.put('Task', { workspaceId, title: 'Not for them' });
    await laptop.untilGone(taskId);
    await phone.goOnline();
    await phone.untilGone(taskId);
    await Promise.all([marker(phone), marker(laptop)]);
    for (const device of [phone, laptop]) assert.ok(!device.heard.some(({ modelId }) => modelId === hidden));
    await arranged.put('WorkspaceMember', joining);
    await phone.untilShows(hidden);
  });

  it('sees inside a private project while its person is in it [sync.private-project.walls]', async () => {
    const { projectId, taskId } = await arranged.secret();
    await marker(phone);
    assert.equal(phone.shows(projectId), undefined);
    const membership = await arranged.put('ProjectMember', { projectId, userId: ann.userId });
    await phone.untilShows(taskId);
    await arranged.remove('ProjectMember', membership);
    await phone.untilGone(taskId);
    const hidden = await arranged.put('Task', {
      workspaceId: arranged.testSystem.workspaceId,
      projectId,
      title: 'Hidden',
    });
    await marker(phone);
    assert.ok(!phone.heard.some(({ modelId }) => modelId === hidden));
  });

  it('loads everything anew when the log does not reach its cursor, from before or beyond [sync.deltas.stale-cursor]', async () => {
    const id = await shared();
    await phone.goOffline();
    await arranged.remove('Task', id);
    const missed = await arranged.put('Task', { workspaceId: arranged.testSystem.workspaceId, title: 'Missed' });
    await arranged.trimLog();
    const { loads } = phone;
    await phone.goOnline();
    assert.equal(phone.loads, loads + 1);
    await phone.untilShows(missed);
    assert.equal(phone.shows(id), undefined);
    await phone.goOffline();
    phone.misplaceCursor('900000000000');
    await phone.goOnline();
    assert.equal(phone.loads, loads + 2);
    await marker(phone);
  });
});
