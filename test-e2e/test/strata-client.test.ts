import type { SyncAction } from '@stratasync/core';
import { eventually, type Person } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Device } from '../strata/device.ts';
import { deviceSystem, type DeviceSystem } from './device-system.ts';

const DAY = Date.UTC(2026, 10, 22);
const MOMENT = Date.UTC(2026, 10, 22, 9, 30, 15, 250);

describe('the published sync client on two devices of one person', () => {
  let system: DeviceSystem;
  let ann: Person;
  let phone: Device;
  let laptop: Device;
  before(async () => {
    system = await deviceSystem();
    ann = await system.testSystem.member('Ann');
    [phone, laptop] = await Promise.all([
      Device.open(system.testSystem, ann.token),
      Device.open(system.testSystem, ann.token),
    ]);
  });
  after(async () => {
    await phone[Symbol.asyncDispose]();
    await laptop[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    for (const device of [phone, laptop]) device.goOnline();
    await Promise.all([phone.untilLive(), laptop.untilLive()]);
  });

  const marker = async (device: Device): Promise<void> => {
    await device.untilShows('Task', await system.marker());
  };
  const about = (actions: readonly SyncAction[], modelId: string): SyncAction[] =>
    actions.filter((action) => action.modelId === modelId);
  const idsOf = (entries: readonly { readonly id: string }[]): string[] => entries.map(({ id }) => id);
  const shared = async (more: object = {}): Promise<string> => {
    const task = system.newTask(more);
    await phone.client.create('Task', task);
    await laptop.untilShows('Task', task.id);
    await phone.untilSettled();
    return task.id;
  };

  it('shows on one device what the other changes, live [sync.client.compatible, sync.action.letters, sync.socket.echo]', async () => {
    const id = await shared({ title: 'Seen on both', priority: 1 });
    await laptop.client.update('Task', id, { title: 'Changed on the other' });
    await phone.untilShows('Task', id, { title: 'Changed on the other', priority: 1 });
    await Promise.all([phone.untilSettled(), laptop.untilSettled()]);
  });

  it('sends each change once it is back online, in order [sync.mutate.order]', async () => {
    const known = await shared({ title: 'Known' });
    phone.goOffline();
    const made = system.newTask({ title: 'Made offline' });
    await phone.client.create('Task', made);
    await phone.client.update('Task', made.id, { title: 'Renamed offline', priority: 2 });
    await phone.client.update('Task', known, { description: 'Written offline' });
    assert.equal(phone.shows('Task', made.id)?.['title'], 'Renamed offline');
    assert.equal(await phone.client.getPendingCount(), 3);
    const elsewise = system.newTask({ title: 'Made by the other meanwhile' });
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
    // Otherwise both changes could arrive in one packet, and the client would show the other one's value.
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
    const last = about(await laptop.received(), id).at(-1);
    assert.equal((await phone.stored('Task', id))?.['title'], last?.data['title']);
    assert.equal((await laptop.stored('Task', id))?.['title'], last?.data['title']);
    for (const device of [phone, laptop]) {
      const updates = (await device.received()).filter(({ action }) => action === 'U');
      assert.ok(updates.length > 0);
      for (const { data } of updates) assert.ok(!('id' in data) && Object.keys(data).length <= 4, JSON.stringify(data));
    }
  });

  it('stores the last write of the log on both, as a new device does, when both wrote the same field, one of them offline', async () => {
    const id = await shared({ title: 'Before' });
    phone.goOffline();
    await phone.client.update('Task', id, { title: 'Of the phone' });
    await laptop.client.update('Task', id, { title: 'Of the laptop' });
    await laptop.untilSettled();
    phone.goOnline();
    // Whether the phone sends its edit, or receives the other one first and gives its own up, is up to the client and the moment.
    await phone.untilSettled();
    await Promise.all([marker(phone), marker(laptop)]);
    const entries = await system.entriesOf(id);
    const title = entries.at(-1)?.record['title'];
    await using tablet = await Device.open(system.testSystem, ann.token);
    assert.equal(tablet.shows('Task', id)?.['title'], title);
    for (const device of [phone, laptop]) {
      assert.deepEqual(idsOf(about(await device.received(), id)), idsOf(entries));
      assert.equal((await device.stored('Task', id))?.['title'], title);
    }
  });

  it('archives and unarchives [sync.mutate.archive]', async () => {
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

  it('deletes a record with its content [sync.mutate.cascade]', async () => {
    const id = await shared();
    const item = {
      id: randomUUID(),
      workspaceId: system.testSystem.workspaceId,
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

  it('gets a refusal for an edit of a record that was deleted meanwhile, and sends the rest [sync.mutate.deleted]', async () => {
    const id = await shared();
    phone.goOffline();
    await phone.client.update('Task', id, { title: 'Too late' });
    const made = system.newTask({ title: 'Goes on' });
    await phone.client.create('Task', made);
    await laptop.client.delete('Task', id);
    await laptop.untilSettled();
    phone.goOnline();
    await laptop.untilShows('Task', made.id);
    await phone.untilSettled();
    // In memory this client keeps a record whose deletion it receives before the refusal, until it loads the record again.
    await eventually(async () => (await phone.stored('Task', id)) === null);
    assert.equal(laptop.shows('Task', id), null);
  });

  it('reverts only what the server refuses [sync.mutate.results]', async () => {
    const id = await shared({ priority: 1 });
    const refused = system.newTask({ title: '' });
    const taken = system.newTask({ title: 'Taken' });
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

  it('sends dates and times as epoch milliseconds, and shows them as the server returns them [sync.mutate.dates]', async () => {
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

  it('stores the fields that the server assigned, and shows them after its next start [sync.mutate.server-assigned]', async () => {
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

  it('starts with its local database, catches up, and loads no snapshot [sync.deltas.paging]', async () => {
    const id = await shared({ title: 'Before the restart' });
    await phone.stop();
    const missed = system.newTask({ title: 'Missed' });
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
    const made = system.newTask({ title: 'Closed before it was sent' });
    await phone.client.create('Task', made);
    await phone.stop();
    phone.goOnline();
    assert.equal(laptop.shows('Task', made.id), null);
    await phone.reopen();
    await laptop.untilShows('Task', made.id);
    await phone.untilSettled();
  });

  it('sends more than a hundred changes in batches of a hundred, and each is applied once', async () => {
    phone.requests.length = 0;
    const tasks = Array.from({ length: 120 }, (_, index) => system.newTask({ title: `Task ${index}` }));
    await Promise.all(tasks.map((task) => phone.client.create('Task', task)));
    await phone.untilSettled();
    await eventually(() => tasks.every(({ id }) => laptop.shows('Task', id) !== null));
    const batches = phone.requests.filter((request) => request === 'POST /sync/mutate').length;
    // More than two, because the client sends what it has so far; on a busy machine that is less each time.
    assert.ok(batches >= 2 && batches <= 30, `${batches} batches`);
    const received = await laptop.received();
    for (const { id } of tasks) assert.equal(about(received, id).length, 1);
    const numbers = tasks.map(({ id }) => Number(laptop.shows('Task', id)?.['number']));
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
  });

  it('loads children on demand, and one record by its id [sync.batch.requests, sync.batch.ndjson]', async () => {
    const id = await shared();
    const [comment, item] = [randomUUID(), randomUUID()];
    const tablet = await Device.open(system.testSystem, ann.token);
    await tablet.stop();
    await system.put('Comment', { workspaceId: system.testSystem.workspaceId, taskId: id, body: 'Said' }, comment);
    await system.put(
      'TaskChecklistItem',
      { workspaceId: system.testSystem.workspaceId, taskId: id, title: 'Step' },
      item,
    );
    await using other = await Device.open(system.testSystem, ann.token);
    assert.equal(await other.stored('Comment', comment), null);
    assert.deepEqual(
      (await other.loadByIndex('Comment', 'taskId', id)).map(({ body }) => body),
      ['Said'],
    );
    assert.equal((await other.client.ensureModel<{ title: string }>('TaskChecklistItem', item))?.title, 'Step');
    assert.equal(await other.client.ensureModel('TaskChecklistItem', randomUUID()), null);
    const later = randomUUID();
    await system.put('Comment', { workspaceId: system.testSystem.workspaceId, taskId: id, body: 'Said later' }, later);
    await other.untilShows('Comment', later);
    assert.equal((await other.loadByIndex('Comment', 'taskId', id)).length, 2);
    await tablet[Symbol.asyncDispose]();
  });

  it('sends a change again whose reply was lost, and it is applied once [sync.mutate.idempotent, never.applied-twice]', async () => {
    const task = system.newTask({ title: 'Its answer got lost' });
    await system.loseReplyTo(task.id, () => phone.client.create('Task', task));
    await phone.untilSettled();
    await Promise.all([phone.untilLive(), laptop.untilLive()]);
    await laptop.untilShows('Task', task.id);
    assert.deepEqual(await system.logged(task.id), ['INSERT']);
  });
});
