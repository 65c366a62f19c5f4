import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Stage, applied, change } from '../../test/stage.ts';
import type { Someone } from '../../test/stage.ts';

describe('a change that changes nothing [sync.mutate.no-change]', function () {
  this.timeout(30_000);
  let stage: Stage;
  let owner: Someone;
  let workspace: string;

  before(async () => {
    stage = await Stage.open('no_change');
    owner = await stage.person();
    workspace = await stage.workspace(owner);
  });
  after(() => stage[Symbol.asyncDispose]());

  const task = (more: object = {}): Promise<string> =>
    owner.make('Task', { workspaceId: workspace, title: 'T', priority: 2, ...more });

  it('succeeds with the place of the last entry of its record, and makes none', async () => {
    const id = await task();
    const made = await stage.head();
    await task();
    const head = await stage.head();
    const whole = (await stage.stored('Task', id))!.record;
    for (const mutation of [
      change('UPDATE', 'Task', id, { title: 'T', priority: 2 }),
      change('UPDATE', 'Task', id, {}),
      change('UPDATE', 'Task', id.toUpperCase(), whole),
      change('UNARCHIVE', 'Task', id),
    ]) {
      const { lastId, mutations } = applied(await stage.send(owner.unit(mutation)));
      assert.deepEqual([lastId, mutations[0]?.syncId], [made, made]);
      assert.deepEqual(mutations[0]?.record, whole);
    }
    assert.equal(await stage.head(), head);
    const { lastId } = applied(await owner.try('ARCHIVE', 'Task', id));
    assert.equal(applied(await owner.try('ARCHIVE', 'Task', id)).lastId, lastId);
    assert.equal(await stage.head(), lastId);
  });

  it('is answered the same when it is sent again, whatever the record has become: it is not made then', async () => {
    const id = await task();
    const unit = owner.unit(change('UPDATE', 'Task', id, { priority: 2 }));
    const first = applied(await stage.send(unit));
    await owner.change('Task', id, { priority: 4 });
    const head = await stage.head();
    const again = applied(await stage.send(unit, stage.engines[1]));
    assert.ok(again.replayed);
    assert.deepEqual([again.lastId, again.mutations[0]?.syncId], [first.lastId, first.lastId]);
    assert.equal((await stage.stored('Task', id))?.record['priority'], 4);
    assert.equal(await stage.head(), head);
  });

  it('stands at the entry that a neighbor in its group makes, and beside changes that are some', async () => {
    const id = await task();
    const other = await task();
    const twin = { ...owner.unit(change('UPDATE', 'Task', id, { priority: 3 })) };
    const [one, two, three] = (
      await stage.engine.commit([
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
    assert.equal(await stage.head(), three!.lastId);
    assert.equal(applied(await stage.send(twin)).lastId, one!.lastId);
  });

  it('of a record whose entries were trimmed stands at the floor, and shows nobody what else is there', async () => {
    const id = await task();
    const stranger = await stage.person();
    await stranger.make('Task', { workspaceId: await stage.workspace(stranger), title: 'Secret' });
    const floor = await stage.head();
    await stage.pool.query('delete from sync.sync_actions where model_id = $1', [id]);
    await stage.pool.query('update sync.log_state set floor = $1', [floor.toString()]);
    const { lastId, mutations } = applied(await owner.try('UPDATE', 'Task', id, { priority: 2 }));
    assert.equal(lastId, floor);
    assert.deepEqual(mutations[0]?.record, { id });
    await stage.pool.query('update sync.log_state set floor = 0');
  });

  it('is one for a person and their memberships as well', async () => {
    const someone = await stage.person('Ada');
    const home = await stage.workspace(someone);
    const head = await stage.head();
    applied(await someone.try('UPDATE', 'User', someone.id, { name: 'Ada' }));
    const { rows } = await stage.pool.query<{ id: string }>(
      'select id from sync.workspace_members where workspace_id = $1',
      [home],
    );
    const { lastId } = applied(await someone.try('UPDATE', 'WorkspaceMember', rows[0]!.id, { role: 'owner' }));
    assert.equal(lastId, head);
    assert.equal(await stage.head(), head);
    await someone.make('Label', { workspaceId: home, name: 'L' }, randomUUID());
  });
});
