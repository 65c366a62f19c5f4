import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { servicePrincipal } from '@wts/access';
import { quiet } from '../../test/replica.ts';
import { TestEngines, applied, change, only, refused, type TestPerson } from '../../test/test-engines.ts';
import { maintainLogOnce } from '../log-maintenance.ts';
import type { Unit, UnitOutcome } from '../decision/unit.ts';

describe('a unit that is sent again because its answer was lost', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await TestEngines.withOwner('lost_answer', 4)));
  after(() => engines[Symbol.asyncDispose]());

  const user = (modelId: string, action: 'INSERT' | 'DELETE'): Unit => ({
    principal: servicePrincipal('test'),
    authority: 'service',
    clientId: 'test',
    clientTxId: randomUUID(),
    mutations: [{ modelName: 'User', modelId, action, payload: action === 'INSERT' ? { name: 'Ada' } : {} }],
  });
  const throughAllReplicas = async (unit: Unit): Promise<UnitOutcome[]> =>
    (await Promise.all(engines.all.flatMap((engine) => [engine.commit([unit]), engine.commit([unit])]))).flat();
  const task = (title = 'Task') => change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title });

  it('is applied once and gets the same answer, also while the first sending is running [sync.mutate.idempotent, never.applied-twice]', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = randomUUID();
      for (const action of ['INSERT', 'DELETE'] as const) {
        const outcomes = await throughAllReplicas(user(id, action));
        const places = new Set(outcomes.map((outcome) => (outcome.ok ? outcome.lastId : outcome.code)));
        assert.equal(places.size, 1, `${action}: ${[...places].join(', ')}`);
        assert.ok(outcomes.every(({ ok }) => ok));
      }
    }
  });

  it('under another key gets the conflict [sync.mutate.insert-replay]', async () => {
    const id = randomUUID();
    const first = { ...user(id, 'INSERT'), clientId: 'another device' };
    await engines.all[0]?.commit([first]);
    const [second] = (await engines.all[1]?.commit([user(id, 'INSERT')])) ?? [];
    assert.deepEqual(second?.ok === false && second.code, 'conflict');
  });

  it('one to three times concurrently with others is in the log once, for every kind of change [never.applied-twice]', async () => {
    const before = await engines.head();
    const made = task('First');
    applied(await engines.send(owner.unit(made)));
    const units = Array.from({ length: 30 }, (_, index) =>
      owner.unit(
        index % 3 === 0 ? task(`Task ${index}`) : change('UPDATE', 'Task', made.modelId, { title: `Title ${index}` }),
      ),
    );
    const sent = units.flatMap((unit, index) => Array.from({ length: 1 + (index % 3) }, () => unit));
    const outcomes = await Promise.all(
      sent.map(async (unit) => ({ unit, outcome: applied(await engines.send(unit)) })),
    );
    const places = Map.groupBy(outcomes, ({ unit }) => unit.clientTxId);
    for (const same of places.values()) {
      assert.equal(new Set(same.map(({ outcome }) => outcome.lastId)).size, 1);
      const records = same.map(({ outcome }) => outcome.mutations[0]?.record);
      for (const record of records) assert.deepEqual(record, records[0]);
    }
    const entries = await engines.entries(before);
    assert.equal(entries.length, 1 + units.length);
    assert.equal(new Set(entries.map(({ clientTxId }) => clientTxId)).size, entries.length);
  });

  it('twice in one batch is applied once, and both get the same answer', async () => {
    const unit = owner.unit(task());
    const [first, second] = (await engines.any.commit([unit, unit])).map(applied);
    assert.deepEqual(second, first);
  });

  it('gets the record of the first time, not the present one', async () => {
    const made = owner.unit(task('Then'));
    const first = only(await engines.send(made));
    await owner.change('Task', first.modelId, { title: 'Now' });
    const gone = owner.unit(change('DELETE', 'Task', first.modelId));
    const deleted = only(await engines.send(gone));
    const replay = applied(await engines.send(made));
    assert.ok(replay.replayed);
    assert.deepEqual(replay.mutations[0]?.record, first.record);
    assert.equal(replay.mutations[0]?.syncId, first.syncId);
    assert.deepEqual(only(await engines.send(gone)).record, deleted.record);
  });

  it('with the same ids by another person or device is another unit', async () => {
    const other = await engines.join(workspace, 'member');
    const sending = { clientId: 'device', clientTxId: 'tx' };
    const places = [
      await engines.send(owner.unit(task(), sending)),
      await engines.send(other.unit(task(), sending)),
      await engines.send(owner.unit(task(), { ...sending, clientId: 'other device' })),
    ].map((outcome) => applied(outcome).lastId);
    assert.equal(new Set(places).size, 3);
  });

  it('after a refusal is decided again', async () => {
    const taskId = randomUUID();
    const unit = owner.unit(
      change('INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId, body: 'Early' }),
    );
    assert.equal(refused(await engines.send(unit)).error, 'taskId: Task not found');
    await owner.make('Task', { workspaceId: workspace, title: 'Late' }, taskId);
    applied(await engines.send(unit));
    // Within one batch as well, where the refused unit then gets the outcome of the same unit.
    const late = randomUUID();
    const comment = owner.unit(
      change('INSERT', 'Comment', randomUUID(), { workspaceId: workspace, taskId: late, body: 'x' }),
    );
    const outcomes = await engines.any.commit([comment, owner.unit({ ...task(), modelId: late }), comment, comment]);
    const [first, made, second, third] = outcomes.map((outcome) => applied(outcome).lastId);
    assert.deepEqual([first, third], [second, second]);
    assert.ok(made! < second!);
  });

  it('with a new record under a new key is a replay for the device that made it, and a conflict for others [sync.mutate.insert-replay]', async () => {
    const mutation = task('Made');
    const first = only(await engines.send(owner.unit(mutation)));
    await owner.change('Task', mutation.modelId, { title: 'Changed' });
    const head = await engines.head();
    const again = applied(await engines.send(owner.unit(mutation)));
    assert.ok(again.replayed);
    assert.deepEqual([again.lastId, again.mutations[0]?.record], [first.syncId, first.record]);

    const conflict = { ok: false, code: 'conflict', error: 'A Task with this id already exists' } as const;
    const member = await engines.join(workspace, 'member');
    const between = await engines.head();
    assert.deepEqual(await engines.send(owner.unit(mutation, { clientId: 'other device' })), conflict);
    assert.deepEqual(await engines.send(member.unit(mutation, { clientId: owner.clientId })), conflict);
    assert.equal(await engines.head(), between);
    assert.equal((await engines.entries(head)).length, 4);
  });

  it('with a new record is a replay for the device that made it last, after it was deleted, made again and moved [sync.mutate.insert-replay]', async () => {
    const mutation = task('Again');
    const other = { clientId: 'other device' };
    applied(await engines.send(owner.unit(mutation)));
    await owner.delete('Task', mutation.modelId);
    const second = only(await engines.send(owner.unit(mutation, other)));
    const hidden = { workspaceId: workspace, key: 'MOVED', name: 'P', isPrivate: true };
    await owner.change('Task', mutation.modelId, { projectId: await owner.make('Project', hidden) });
    assert.equal(only(await engines.send(owner.unit(mutation, other))).syncId, second.syncId);
    assert.equal(refused(await engines.send(owner.unit(mutation))).code, 'conflict');
  });

  it('with a new record under new keys, concurrently through several replicas, makes one record', async () => {
    for (let round = 0; round < 4; round += 1) {
      const mutation = task('Raced');
      const outcomes = await Promise.all(engines.all.map((engine) => engines.send(owner.unit(mutation), engine)));
      assert.equal(new Set(outcomes.map((outcome) => applied(outcome).lastId)).size, 1);
    }
  });

  it('with a new record under new keys in one batch makes one record, and is a replay for the device that made it [sync.mutate.insert-replay]', async () => {
    const mutation = task('Twice');
    const once = owner.unit(mutation);
    const other = { clientId: 'other device' };
    const twice = { ...owner.unit(mutation), mutations: [mutation, task('Beside')] };
    const undone = {
      ...owner.unit(mutation, other),
      mutations: [change('DELETE', 'Task', mutation.modelId), mutation, change('DELETE', 'Task', randomUUID())],
    };
    const outcomes = await engines.any.commit([once, owner.unit(mutation), undone, twice, owner.unit(mutation, other)]);
    const [first, again, bad, part, foreign] = outcomes;
    assert.deepEqual([only(again!).syncId, only(again!).record], [only(first!).syncId, only(first!).record]);
    assert.equal(refused(bad!).code, 'not_found');
    assert.equal(applied(part!).mutations[0]?.syncId, only(first!).syncId);
    assert.equal(refused(foreign!).code, 'conflict');
    const replay = applied(await engines.send(twice));
    assert.deepEqual(
      replay.mutations.map(({ syncId }) => syncId),
      applied(part!).mutations.map(({ syncId }) => syncId),
    );
  });

  it('and of which a part was made before gets the position of each part', async () => {
    const mutation = task('Part');
    const first = only(await engines.send(owner.unit(mutation)));
    const unit = { ...owner.unit(mutation), mutations: [mutation, task('Other part')] };
    const outcome = applied(await engines.send(unit));
    assert.equal(outcome.mutations[0]?.syncId, first.syncId);
    const replay = applied(await engines.send(unit));
    assert.deepEqual(replay.mutations, outcome.mutations);
    assert.equal(replay.lastId, outcome.lastId);
  });

  it('is answered also when its entries were trimmed [sync.mutate.idempotent, never.applied-twice]', async () => {
    const unit = owner.unit(task());
    const first = applied(await engines.send(unit));
    await engines.send(owner.unit(task()));
    await engines.pool.query('delete from sync.sync_actions where sync_id = $1', [first.lastId.toString()]);
    const head = await engines.head();
    const again = applied(await engines.send(unit));
    assert.deepEqual([again.replayed, again.lastId], [true, first.lastId]);
    assert.deepEqual(again.mutations[0]?.record, { id: first.mutations[0]?.modelId });
    assert.equal(await engines.head(), head);
  });

  it('is a replay for thirty days [sync.mutate.idempotent]', async () => {
    const [known, old] = [owner.unit(task()), owner.unit(task())];
    for (const [unit, days] of [
      [known, 29],
      [old, 31],
    ] as const) {
      await engines.send(unit);
      await engines.pool.query(
        'update sync.idempotency_keys set created_at = now() - make_interval(days => $2) where client_tx_id = $1',
        [unit.clientTxId, days],
      );
    }
    await maintainLogOnce({
      pool: engines.pool,
      log: engines.log,
      retention: { ageMs: 1e12, youngestMs: 1e12 },
      logger: quiet,
    });
    const { rows } = await engines.pool.query<{ tx: string }>(
      'select client_tx_id as tx from sync.idempotency_keys where client_tx_id = any($1)',
      [[known.clientTxId, old.clientTxId]],
    );
    assert.deepEqual(
      rows.map(({ tx }) => tx),
      [known.clientTxId],
    );
    assert.equal(applied(await engines.send(known)).replayed, true);
  });
});
