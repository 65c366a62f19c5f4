import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { TestEngines, applied, change, membership, only, openEngine, refused } from '../../test/test-engines.ts';
import type { TestPerson } from '../../test/test-engines.ts';

describe('the commit engine', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await TestEngines.withOwner('engine')));
  after(() => engines[Symbol.asyncDispose]());

  const task = (title = 'Task') => change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title });

  it('commits all changes of a unit or none, and undoes all of a refused one', async () => {
    const newcomer = await engines.person();
    const decided = { ...owner.unit(task()), authority: 'service' as const };
    const head = await engines.head();
    const outcomes = await engines.any.commit([
      {
        ...decided,
        mutations: [membership(workspace, newcomer.id, 'guest'), task(), change('DELETE', 'Task', randomUUID())],
      },
      owner.unit(task('After')),
    ]);
    assert.deepEqual(refused(outcomes[0]!), { ok: false, code: 'not_found', error: 'Task not found' });
    const after = applied(outcomes[1]!);
    assert.deepEqual(
      (await engines.entries(head)).map(({ syncId }) => syncId),
      [String(after.lastId)],
    );
    const { rows } = await engines.pool.query('select group_id from sync.user_audiences where user_id = $1', [
      newcomer.id,
    ]);
    assert.deepEqual(rows, [{ group_id: newcomer.id }]);
    const { rows: members } = await engines.pool.query('select id from sync.workspace_members where user_id = $1', [
      newcomer.id,
    ]);
    assert.deepEqual(members, []);
    // The refused unit has used no number.
    const next = only(await engines.send(owner.unit(task('Next'))));
    assert.equal(Number(next.record['number']), Number(after.mutations[0]?.record['number']) + 1);
  });

  it('does not check at commit the rows that a refused unit wrote and assumed', async () => {
    const hidden = { workspaceId: workspace, key: 'RELIED', name: 'P', isPrivate: true };
    const maker = await engines.join(workspace, 'member');
    const projectId = await maker.make('Project', hidden);
    const taskId = await maker.make('Task', { workspaceId: workspace, title: 'T', projectId });
    const mutations = [
      change('INSERT', 'ProjectMember', randomUUID(), { projectId, userId: owner.id }),
      change('UPDATE', 'Task', taskId, { title: 'Seen' }),
      change('DELETE', 'Task', randomUUID()),
    ];
    const outcomes = await engines.any.commit([{ ...owner.unit(task()), mutations }, owner.unit(task('After'))]);
    assert.equal(refused(outcomes[0]!).error, 'Task not found');
    applied(outcomes[1]!);
  });

  it('writes nothing of a unit when a constraint refuses one of its changes', async () => {
    await owner.make('Project', { workspaceId: workspace, key: 'ONE', name: 'One' });
    const head = await engines.head();
    const mutation = task();
    const unit = {
      ...owner.unit(mutation),
      mutations: [
        mutation,
        change('INSERT', 'Project', randomUUID(), { workspaceId: workspace, key: 'ONE', name: 'Two' }),
      ],
    };
    assert.equal(refused(await engines.send(unit)).code, 'conflict');
    assert.equal(await engines.head(), head);
    assert.equal(await engines.stored('Task', mutation.modelId), null);
  });

  it('returns the values that the server assigned, and stores a record in the order of its fields [sync.mutate.server-assigned]', async () => {
    const id = randomUUID();
    const payload = {
      id: id.toUpperCase(),
      number: 99,
      creatorId: randomUUID(),
      createdAt: 0,
      archivedAt: 1,
      workspaceId: workspace.toUpperCase(),
      title: 'T',
    };
    const { record, syncId, modelId } = only(await owner.try('INSERT', 'Task', id.toUpperCase(), payload));
    assert.equal(modelId, id);
    const [entry] = await engines.entries(syncId - 1n);
    assert.deepEqual(entry?.record, record);
    assert.deepEqual(entry?.data, record);
    assert.deepEqual(
      [record.id, record['creatorId'], record['workspaceId'], record['archivedAt']],
      [id, owner.id, workspace, null],
    );
    assert.ok(Number(record['number']) < 99);
    assert.ok(Math.abs(Date.now() - Date.parse(String(record['createdAt']))) < 60_000);
    assert.equal(JSON.stringify((await engines.stored('Task', id))?.record), JSON.stringify(record));
  });

  it('writes an entry with the changed fields and the time only [sync.action.update-changed-only, sync.mutate.archive]', async () => {
    const id = await owner.make('Task', { workspaceId: workspace, title: 'T', priority: 1 });
    const whole = (await engines.stored('Task', id))!.record;
    const { syncId } = await owner.change('Task', id, { ...whole, title: 'New', deadlineAt: 1_795_222_326_625 });
    const [entry] = await engines.entries(syncId - 1n);
    assert.deepEqual(entry?.changed, ['title', 'deadlineAt']);
    assert.deepEqual(Object.keys(entry?.data ?? {}), ['title', 'deadlineAt', 'updatedAt']);
    assert.equal(entry?.data['deadlineAt'], '2026-11-21');
    const archived = await owner.try('ARCHIVE', 'Task', id, {});
    const [shelved] = await engines.entries(applied(archived).lastId - 1n);
    assert.deepEqual(Object.keys(shelved?.data ?? {}), ['archivedAt']);
    const again = only(await owner.try('ARCHIVE', 'Task', id, { archivedAt: 1 }));
    assert.equal(again.record['archivedAt'], shelved?.data['archivedAt']);
  });

  it('refuses changes of immutable fields, and accepts repeating their values', async () => {
    const id = await owner.make('Task', { workspaceId: workspace, title: 'T' });
    const other = await engines.workspace(owner);
    assert.deepEqual(refused(await owner.try('UPDATE', 'Task', id, { workspaceId: other })), {
      ok: false,
      code: 'validation_failed',
      error: 'workspaceId cannot be changed',
    });
    applied(await owner.try('UPDATE', 'Task', id, { workspaceId: workspace }));
    assert.equal(
      refused(await owner.try('UPDATE', 'Task', id, { id: randomUUID() })).error,
      'payload.id must equal modelId',
    );
  });

  it('sets the time at which a comment was edited', async () => {
    const taskId = await owner.make('Task', { workspaceId: workspace, title: 'T' });
    const comment = await owner.make('Comment', { workspaceId: workspace, taskId, body: 'One', editedAt: 1 });
    assert.equal((await engines.stored('Comment', comment))?.record['editedAt'], null);
    assert.equal((await owner.change('Comment', comment, { body: 'One' })).record['editedAt'], null);
    assert.ok((await owner.change('Comment', comment, { body: 'Two' })).record['editedAt']);
  });

  it('commits changes of many records of many parents in one request', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      const projectId = await owner.make('Project', { workspaceId: workspace, key: `MANY${n}`, name: 'P' });
      ids.push(await owner.make('Task', { workspaceId: workspace, title: 'T', projectId }));
    }
    const outcomes = await engines.any.commit(
      ids.map((id) => owner.unit(change('UPDATE', 'Task', id, { title: 'New' }))),
    );
    assert.ok(outcomes.every(({ ok }) => ok));
    const mutations = ids.map((id) => change('UPDATE', 'Task', id, { title: 'Newer' }));
    applied(await engines.send({ ...owner.unit(mutations[0]!), mutations }));
  });

  it('acknowledges a committed change also when a listener fails', async () => {
    const engine = openEngine({ pool: engines.pool });
    const committed: string[] = [];
    engine.onCommitted(() => {
      throw new Error('a listener of a test');
    });
    engine.onCommitted(({ last }) => committed.push(last));
    const warned = once(process, 'warning');
    const { lastId } = applied(await engines.send(owner.unit(task()), engine));
    assert.deepEqual(committed, [lastId.toString()]);
    assert.match(String((await warned)[0]), /a listener of a test/);
  });
});
