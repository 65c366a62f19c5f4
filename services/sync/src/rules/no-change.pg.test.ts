import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TestEngines, applied, change, type TestPerson } from '../../test/test-engines.ts';

describe('a change that changes nothing [sync.mutate.no-change]', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await TestEngines.withOwner('no_change')));
  after(() => engines[Symbol.asyncDispose]());

  const task = (more: object = {}): Promise<string> =>
    owner.make('Task', { workspaceId: workspace, title: 'T', priority: 2, ...more });

  it('succeeds with the position of the last entry of its record, and makes none', async () => {
    const id = await task();
    const made = await engines.head();
    await task();
    const head = await engines.head();
    const whole = (await engines.stored('Task', id))!.record;
    for (const mutation of [
      change('UPDATE', 'Task', id, { title: 'T', priority: 2 }),
      change('UPDATE', 'Task', id, {}),
      change('UPDATE', 'Task', id.toUpperCase(), whole),
      change('UNARCHIVE', 'Task', id),
    ]) {
      const { lastId, mutations } = applied(await engines.send(owner.unit(mutation)));
      assert.deepEqual([lastId, mutations[0]?.syncId], [made, made]);
      assert.deepEqual(mutations[0]?.record, whole);
    }
    assert.equal(await engines.head(), head);
    const { lastId } = applied(await owner.try('ARCHIVE', 'Task', id));
    assert.equal(applied(await owner.try('ARCHIVE', 'Task', id)).lastId, lastId);
    assert.equal(await engines.head(), lastId);
  });

  it('gets the same answer when it is sent again, also after the record has changed', async () => {
    const id = await task();
    const unit = owner.unit(change('UPDATE', 'Task', id, { priority: 2 }));
    const first = applied(await engines.send(unit));
    await owner.change('Task', id, { priority: 4 });
    const head = await engines.head();
    const again = applied(await engines.send(unit, engines.all[1]));
    assert.ok(again.replayed);
    assert.deepEqual([again.lastId, again.mutations[0]?.syncId], [first.lastId, first.lastId]);
    assert.equal((await engines.stored('Task', id))?.record['priority'], 4);
    assert.equal(await engines.head(), head);
  });

  it('has the position of the entry that another unit of its batch makes, and may be next to real changes', async () => {
    const id = await task();
    const other = await task();
    const twin = { ...owner.unit(change('UPDATE', 'Task', id, { priority: 3 })) };
    const [one, two, three] = (
      await engines.any.commit([
        twin,
        owner.unit(change('UPDATE', 'Task', id, { priority: 3 })),
        {
          ...owner.unit(change('UPDATE', 'Task', other, { title: 'New' })),
          mutations: [
            change('UPDATE', 'Task', other, { title: 'New' }),
            change('UPDATE', 'Task', id, { priority: 3, title: 'T' }),
          ],
        },
      ])
    ).map(applied);
    assert.equal(two!.lastId, one!.lastId);
    assert.equal(three!.mutations[1]?.syncId, one!.lastId);
    assert.equal(three!.lastId, one!.lastId + 1n);
    assert.equal(await engines.head(), three!.lastId);
    assert.equal(applied(await engines.send(twin)).lastId, one!.lastId);
  });

  it('of a record whose entries were trimmed has the position of the floor, and does not show the entry there', async () => {
    const id = await task();
    const stranger = await engines.person();
    await stranger.make('Task', { workspaceId: await engines.workspace(stranger), title: 'Secret' });
    const floor = await engines.head();
    await engines.pool.query('delete from sync.sync_actions where model_id = $1', [id]);
    await engines.pool.query('update sync.log_state set floor = $1', [floor.toString()]);
    try {
      const { lastId, mutations } = applied(await owner.try('UPDATE', 'Task', id, { priority: 2 }));
      assert.equal(lastId, floor);
      assert.deepEqual(mutations[0]?.record, { id });
    } finally {
      await engines.pool.query('update sync.log_state set floor = 0');
    }
  });

  it('is detected for a person and their memberships as well', async () => {
    const person = await engines.person('Ada');
    const home = await engines.workspace(person);
    const head = await engines.head();
    applied(await person.try('UPDATE', 'User', person.id, { name: 'Ada' }));
    const own = await engines.membershipOf(home, person);
    const { lastId } = applied(await person.try('UPDATE', 'WorkspaceMember', own, { role: 'owner' }));
    assert.equal(lastId, head);
    assert.equal(await engines.head(), head);
    await person.make('Label', { workspaceId: home, name: 'L' }, randomUUID());
  });
});
