import type { SyncAction } from '@stratasync/core';
import { eventually, type Person } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Device } from '../strata/device.ts';
import { Arranged } from './arrange.ts';

const DAY = Date.UTC(2026, 10, 22);
const MOMENT = Date.UTC(2026, 10, 22, 9, 30, 15, 250);

describe('the published sync client on two devices of one person', function () {
  this.timeout(60_000);
  let arranged: Arranged;
  let ann: Person;
  let phone: Device;
  let laptop: Device;
  before(async () => {
    arranged = await Arranged.open('strata');
    ann = await arranged.testSystem.member('Ann');
    [phone, laptop] = await Promise.all([
      Device.open(arranged.testSystem, ann.token),
      Device.open(arranged.testSystem, ann.token),
    ]);
  });
  after(async () => {
    await phone[Symbol.asyncDispose]();
    await laptop[Symbol.asyncDispose]();
    await arranged[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    for (const device of [phone, laptop]) device.goOnline();
    await Promise.all([phone.untilLive(), laptop.untilLive()]);
  });

  const marker = async (device: Device): Promise<void> => {
    await device.untilShows('Task', await arranged.marker());
  };
  const about = (actions: readonly SyncAction[], modelId: string): SyncAction[] =>
    actions.filter((action) => action.modelId === modelId);
  const shared = async (more: object = {}): Promise<string> => {
    const task = arranged.newTask(more);
    await phone.client.create('Task', task);
    await laptop.untilShows('Task', task.id);
    await phone.untilSettled();
    return task.id;
  };

  it('shows on one what the other does, as it happens [sync.client.compatible, sync.action.letters, sync.socket.echo]', async () => {
    const id = await shared({ title: 'Seen on both', priority: 1 });
    await laptop.client.update('Task', id, { title: 'Changed on the other' });
    await phone.untilShows('Task', id, { title: 'Changed on the other', priority: 1 });
    await Promise.all([phone.untilSettled(), laptop.untilSettled()]);
  });

  it('sends each change once it is back online, in order [sync.mutate.order]', async () => {
    const known = await shared({ title: 'Known' });
    phone.goOffline();
    const made = arranged.newTask({ title: 'Made offline' });
    await phone.client.create('Task', made);
    await phone.client.update('Task', made.id, { title: 'Renamed offline', priority: 2 });
    await phone.client.update('Task', known, { description: 'Written offline' });
    assert.equal(phone.shows('Task', made.id)?.['title'], 'Renamed offline');
    assert.equal(await phone.client.getPendingCount(), 3);
    const elsewise = arranged.newTask({ title: 'Made by the other meanwhile' });
    await laptop.client.create('Task', elsewise);
    await laptop.untilSettled();
    phone.goOnline();
    await laptop.untilShows('Task', made.id, { title: 'Renamed offline', priority: 2 });
    await laptop.untilShows('Task', known, { title: 'Known', description: 'Written offline' });
    await phone.untilShows('Task', elsewise.id, { title: 'Made by the other meanwhile' });
    await phone.untilSettled();
  });

  it('lets the last writer win for each field, and keeps what others wrote in other fields [sync.action.update-changed-only]', async () => {
    const id = await shared({ title: 'Both', description: 'Both' });
    phone.goOffline();
    await phone.client.update('Task', id, { priority: 4 });
    // A change still on its way would come back in one packet with the other one, and the client would show the other's.
    await phone.untilGivenUp();
    await laptop.client.update('Task', id, { title: 'Of the laptop', description: 'Of the laptop' });
    await laptop.untilSettled();
    const conflicts = phone.events.filter(({ type }) => type === 'rebaseConflict').length;
    phone.goOnline();
    const merged = { title: 'Of the laptop', description: 'Of the laptop', priority: 4 };
    await Promise.all([phone.untilShows('Task', id, merged), laptop.untilShows('Task', id, merged)]);
    assert.equal(phone.events.filter(({ type }) => type === 'rebaseConflict').length, conflicts);

    await Promise.all([
      phone.client.update('Task', id, { title: 'Of the phone at once' }),
      laptop.client.update('Task', id, { title: 'Of the laptop at once' }),
    ]);
    await Promise.all([phone.untilSettled(), laptop.untilSettled()]);
    await Promise.all([marker(phone), marker(laptop)]);
    const last = about(await laptop.heard(), id).at(-1);
    assert.equal((await phone.stored('Task', id))?.['title'], last?.data['title']);
    assert.equal((await laptop.stored('Task', id))?.['title'], last?.data['title']);
    for (const device of [phone, laptop]) {
      const updates = (await device.heard()).filter(({ action }) => action === 'U');
      assert.ok(updates.length > 0);
      for (const { data } of updates) assert.ok(!('id' in data) && Object.keys(data).length <= 4, JSON.stringify(data));
    }
  });

  it('stores the same on both when both wrote the same field, one of them offline', async () => {
    const id = await shared({ title: 'Before' });
    phone.goOffline();
    await phone.client.update('Task', id, { title: 'Of the phone' });
    await laptop.client.update('Task', id, { title: 'Of the laptop' });
    await laptop.untilSettled();
    phone.goOnline();
    // Whether the edit was sent before the client heard of the other one is the client's business: both end alike.
    await phone.untilSettled();
    await Promise.all([marker(phone), marker(laptop)]);
    const [mine, other] = [await phone.stored('Task', id), await laptop.stored('Task', id)];
    assert.equal(mine?.['title'], other?.['title']);
  });

  it('archives and takes back [sync.mutate.archive]', async () => {
    const id = await shared();
    await phone.client.archive('Task', id);
    await eventually(async () => {
      const listed = await laptop.client.getAll<{ id: string }>('Task');
      return !listed.some((task) => task.id === id);
    });
    const archived = await laptop.client.getAll<{ id: string }>('Task', { includeArchived: true });
    assert.ok(archived.some((task) => task.id === id));
    await laptop.client.unarchive('Task', id);
    await phone.untilShows('Task', id, { archivedAt: null });
    await Promise.all([phone.untilSettled(), laptop.untilSettled()]);
  });

  it('deletes, with what was inside [sync.mutate.cascade]', async () => {
    const id = await shared();
    const item = {
      id: randomUUID(),
      workspaceId: arranged.testSystem.workspaceId,
      taskId: id,
      title: 'Step',
      sortOrder: 'a',
    };
    await phone.client.create('TaskChecklistItem', item);
    await laptop.untilShows('TaskChecklistItem', item.id);
    await laptop.client.delete('Task', id);
    await phone.untilGone('Task', id);
    await phone.untilGone('TaskChecklistItem', item.id);
    await laptop.untilSettled();
  });

  it('refuses an edit of what was deleted meanwhile, and goes on with the rest [sync.mutate.deleted]', async () => {
    const id = await shared();
    phone.goOffline();
    await phone.client.update('Task', id, { title: 'Too late' });
    const made = arranged.newTask({ title: 'Goes on' });
    await phone.client.create('Task', made);
    await laptop.client.delete('Task', id);
    await laptop.untilSettled();
    phone.goOnline();
    await laptop.untilShows('Task', made.id);
    await phone.untilSettled();
    await phone.untilGone('Task', id);
    assert.equal(laptop.shows('Task', id), null);
  });

  it('takes back at once what the server refuses, and nothing else [sync.mutate.results]', async () => {
    const id = await shared({ priority: 1 });
    const refused = arranged.newTask({ title: '' });
    const taken = arranged.newTask({ title: 'Taken' });
    await Promise.all([
      phone.client.create('Task', refused),
      phone.client.update('Task', id, { priority: 9 }),
      phone.client.create('Task', taken),
    ]);
    await phone.untilSettled();
    await laptop.untilShows('Task', taken.id);
    await phone.untilShows('Task', id, { priority: 1 });
    assert.equal(phone.shows('Task', refused.id), null);
    assert.equal(phone.shows('Task', taken.id)?.['title'], 'Taken');
  });

  it('reads days and moments given as epoch milliseconds, and shows them as the wire has them [sync.mutate.dates]', async () => {
    const id = await shared({ startDate: DAY, deadlineAt: '2026-11-23' });
    await phone.client.update('Task', id, { completedAt: MOMENT });
    await laptop.untilShows('Task', id, {
      startDate: '2026-11-22',
      deadlineAt: '2026-11-23',
      completedAt: '2026-11-22T09:30:15.250Z',
    });
    await laptop.client.update('Task', id, { completedAt: null });
    await phone.untilShows('Task', id, { completedAt: null });
  });

  it('has what the server assigned in its local database at once, and shows it after its next start [sync.mutate.server-assigned]', async () => {
    const id = await shared();
    const stored = await eventually(async () => {
      const row = await phone.stored('Task', id);
      return row?.['number'] === undefined ? null : row;
    });
    assert.equal(stored['creatorId'], ann.userId);
    assert.equal(stored['number'], laptop.shows('Task', id)?.['number']);
    await phone.stop();
    await phone.reopen();
    assert.equal(phone.shows('Task', id)?.['number'], stored['number']);
  });

  it('opens with what it stored, catches up, and loads nothing anew [sync.deltas.paging]', async () => {
    const id = await shared({ title: 'Before the restart' });
    await phone.stop();
    const missed = arranged.newTask({ title: 'Missed' });
    await laptop.client.create('Task', missed);
    await laptop.client.update('Task', id, { title: 'Changed while closed' });
    await laptop.untilSettled();
    await phone.reopen();
    await phone.untilShows('Task', missed.id);
    await phone.untilShows('Task', id, { title: 'Changed while closed' });
    assert.ok(phone.requests.includes('GET /sync/deltas'));
    assert.ok(!phone.requests.includes('GET /sync/bootstrap'));
  });

  it('sends what it could not send before it was closed', async () => {
    phone.goOffline();
    const made = arranged.newTask({ title: 'Closed before it was sent' });
    await phone.client.create('Task', made);
    await phone.stop();
    phone.goOnline();
    assert.equal(laptop.shows('Task', made.id), null);
    await phone.reopen();
    await laptop.untilShows('Task', made.id);
    await phone.untilSettled();
  });

  it('sends hundreds of changes in batches of a hundred, and each is taken once', async () => {
    phone.requests.length = 0;
    const tasks = Array.from({ length: 250 }, (_, index) => arranged.newTask({ title: `Task ${index}` }));
    await Promise.all(tasks.map((task) => phone.client.create('Task', task)));
    await phone.untilSettled();
    await eventually(() => tasks.every(({ id }) => laptop.shows('Task', id) !== null));
    const batches = phone.requests.filter((request) => request === 'POST /sync/mutate').length;
    assert.ok(batches >= 3 && batches <= 10, `${batches} batches`);
    const heard = await laptop.heard();
    for (const { id } of tasks) assert.equal(about(heard, id).length, 1);
    const numbers = tasks.map(({ id }) => Number(laptop.shows('Task', id)?.['number']));
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
  });

  it('loads children when they are wanted, and one record by its id [sync.batch.requests, sync.batch.ndjson]', async () => {
    const id = await shared();
    const [comment, item] = [randomUUID(), randomUUID()];
    const tablet = await Device.open(arranged.testSystem, ann.token);
    await tablet.stop();
    await arranged.put('Comment', { workspaceId: arranged.testSystem.workspaceId, taskId: id, body: 'Said' }, comment);
    await arranged.put(
      'TaskChecklistItem',
      { workspaceId: arranged.testSystem.workspaceId, taskId: id, title: 'Step' },
      item,
    );
    await using other = await Device.open(arranged.testSystem, ann.token);
    assert.equal(await other.stored('Comment', comment), null);
    assert.deepEqual(
      (await other.loadByIndex('Comment', 'taskId', id)).map(({ body }) => body),
      ['Said'],
    );
    assert.equal((await other.client.ensureModel<{ title: string }>('TaskChecklistItem', item))?.title, 'Step');
    assert.equal(await other.client.ensureModel('TaskChecklistItem', randomUUID()), null);
    const later = randomUUID();
    await arranged.put(
      'Comment',
      { workspaceId: arranged.testSystem.workspaceId, taskId: id, body: 'Said later' },
      later,
    );
    await other.untilShows('Comment', later);
    assert.equal((await other.loadByIndex('Comment', 'taskId', id)).length, 2);
    await tablet[Symbol.asyncDispose]();
  });

  it('sends again what was taken while the answer got lost, and it is taken once [sync.mutate.idempotent, never.applied-twice]', async () => {
    const task = arranged.newTask({ title: 'Its answer got lost' });
    await arranged.loseAnswerOf(task.id, () => phone.client.create('Task', task));
    await phone.untilSettled();
    await Promise.all([phone.untilLive(), laptop.untilLive()]);
    await laptop.untilShows('Task', task.id);
    assert.deepEqual(await arranged.logged(task.id), ['INSERT']);
  });
});
