import assert from 'node:assert/strict';
import type { DeltasReply } from '@wts/contracts';
import { ERASED_PERSON } from '@wts/models';
import { TestSyncService, type Line } from './test-sync-service.ts';

/** What members see of a person who left, by snapshots and by the log. */
describe('a person who left a workspace [sync.people.frozen]', () => {
  let sync: TestSyncService;
  let owner: string;
  let home: string;
  let leaver: string;
  let membership: string;

  before(async () => (sync = await TestSyncService.open('frozen_people')));
  beforeEach(async () => {
    owner = await sync.person('Owner');
    home = await sync.workspace(owner);
    leaver = await sync.insert('User', { name: 'Eve', email: 'eve@example.org' });
    membership = await sync.join(leaver, home);
  });
  after(() => sync[Symbol.asyncDispose]());

  const leave = (modelId: string) =>
    sync.commit([{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }]);
  const rename = (userId: string, name: string) =>
    sync.commit([{ modelName: 'User', modelId: userId, action: 'UPDATE', payload: { name } }], userId);
  const headOf = async (userId: string): Promise<string> => (await sync.bootstrap(userId)).metadata.lastSyncId;
  const shownTo = async (reader: string, query: Record<string, string> = {}): Promise<unknown[]> => {
    const rows = (await sync.bootstrap(reader, query)).rows.filter(
      ({ __class, id }) => __class === 'User' && id === leaver,
    );
    return rows.map(({ name, email }) => [name, email]);
  };
  /** Applies the entries after a snapshot, as a client does. */
  const followed = (start: Line | undefined, { actions }: DeltasReply): unknown[] => {
    const record: Record<string, unknown> = { ...start };
    for (const { modelId, data } of actions) if (modelId === leaver) Object.assign(record, data);
    return [record['name'], record['email']];
  };

  it('makes no more changes there, and new members do not get their email address [sync.action.update-changed-only]', async () => {
    const after = await headOf(owner);
    const updatedAt = (await sync.bootstrap(owner)).rows.find(({ id }) => id === leaver)?.['updatedAt'];
    await leave(membership);
    await rename(leaver, 'WRITTEN AFTER REMOVAL');
    const { actions } = await sync.deltas(owner, { after });
    assert.deepEqual(
      actions.filter(({ modelName }) => modelName === 'User').map(({ action, data }) => [action, data]),
      [['UPDATE', { email: null, updatedAt }]],
    );
    assert.ok(!JSON.stringify(actions).includes('WRITTEN AFTER REMOVAL'));
    const newcomer = await sync.person('New');
    await sync.join(newcomer, home);
    for (const reader of [owner, newcomer]) assert.deepEqual(await shownTo(reader), [['Eve', null]]);
    const requests = [
      { modelName: 'User', indexedKey: 'id', keyValue: leaver },
      { modelName: 'User', groupId: home },
    ];
    for (const request of requests) {
      const rows = (await sync.batch(newcomer, [request])).filter(({ id }) => id === leaver);
      assert.deepEqual(
        rows.map(({ name, email }) => [name, email]),
        [['Eve', null]],
      );
    }
    assert.deepEqual(await shownTo(leaver), [['WRITTEN AFTER REMOVAL', 'eve@example.org']]);
  });

  it('is erased there too, by snapshots and deltas, when a service erases them and by no other change [sync.people.erased]', async () => {
    const other = await sync.workspace(owner);
    await sync.join(leaver, other);
    await leave(membership);
    const start = (await sync.bootstrap(owner, { syncGroups: home })).rows.find(({ id }) => id === leaver);
    const after = await headOf(owner);
    const change = (payload: object, actor?: string) =>
      sync.commit([{ modelName: 'User', modelId: leaver, action: 'UPDATE', payload: { ...payload } }], actor);
    await change({ name: ERASED_PERSON.name });
    assert.deepEqual(await shownTo(owner, { syncGroups: home }), [['Eve', null]]);
    await change(ERASED_PERSON);
    const erased = [[ERASED_PERSON.name, null]];
    for (const syncGroups of [home, other]) assert.deepEqual(await shownTo(owner, { syncGroups }), erased);
    const { actions } = await sync.deltas(owner, { after });
    const inHome = actions.filter(({ groupId }) => groupId === home);
    assert.deepEqual([followed(start, { actions: inHome } as unknown as DeltasReply)], erased);
    assert.deepEqual(await shownTo(leaver), erased);
  });

  it('is shown with current fields to people who share another workspace, by snapshots and deltas alike', async () => {
    const other = await sync.workspace(leaver);
    await sync.join(owner, other);
    const start = (await sync.bootstrap(owner)).rows.find(({ id }) => id === leaver);
    const after = await headOf(owner);
    await leave(membership);
    await rename(leaver, 'Eva');
    const live = ['Eva', 'eve@example.org'];
    for (const query of [{}, { syncGroups: other }, { syncGroups: home, type: 'partial' }])
      assert.deepEqual(await shownTo(owner, query as Record<string, string>), [live], JSON.stringify(query));
    // A client that follows only this workspace gets the state that its entries give.
    assert.deepEqual(await shownTo(owner, { syncGroups: home }), [['Eve', null]]);
    assert.deepEqual(followed(start, await sync.deltas(owner, { after })), live);
  });

  it('is shown as they were when they last left, to people who share no workspace any more', async () => {
    const third = await sync.workspace(owner);
    const theirs = await sync.join(leaver, third);
    const start = (await sync.bootstrap(owner)).rows.find(({ id }) => id === leaver);
    const after = await headOf(owner);
    await leave(membership);
    await rename(leaver, 'Eva');
    await leave(theirs);
    await rename(leaver, 'Evita');
    assert.deepEqual(await shownTo(owner), [['Eva', null]]);
    assert.deepEqual(followed(start, await sync.deltas(owner, { after })), ['Eva', null]);
    // They join the first workspace again, under their first name; members who saw another name get an entry.
    await rename(leaver, 'Eve');
    await sync.join(leaver, home);
    assert.deepEqual(await shownTo(owner), [['Eve', 'eve@example.org']]);
    assert.deepEqual(followed(start, await sync.deltas(owner, { after })), ['Eve', 'eve@example.org']);
    const { rows } = await sync.sql.query('select group_id from sync.frozen_people where user_id = $1', [leaver]);
    assert.deepEqual(rows, [{ group_id: third }]);
  });
});
