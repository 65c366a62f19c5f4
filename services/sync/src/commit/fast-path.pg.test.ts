import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '@wts/testkit';
import { Client } from 'pg';
import { TestEngines, applied, change, only, refused, type TestPerson } from '../../test/test-engines.ts';
import { CommitEngine } from './engine.ts';
import type { Unit } from '../decision/unit.ts';
import { SYNC_LIMITS } from '../limits.ts';

describe('the fast path of a commit', () => {
  let engines: TestEngines;
  let ours: CommitEngine;
  let theirs: CommitEngine;
  let other: Client;
  let owner: TestPerson;
  let workspace: string;
  /** The messages of the first replica to PostgreSQL. */
  const messages: string[] = [];

  before(async () => {
    engines = await TestEngines.open('fast-path');
    theirs = engines.all[1]!;
    engines.pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      client.query = ((...args: unknown[]) => {
        messages.push(String(args[0]));
        return query(...args);
      }) as typeof client.query;
    });
    other = new Client({ connectionString: engines.database.url });
    await other.connect();
    owner = await engines.person();
    workspace = await engines.workspace(owner);
  });
  // With an empty cache, and no conflict before.
  beforeEach(() => (ours = new CommitEngine({ pool: engines.pool })));
  after(async () => {
    await other.end();
    await engines[Symbol.asyncDispose]();
  });

  const task = (person = owner, id: string = randomUUID()): Unit =>
    person.unit(change('INSERT', 'Task', id, { workspaceId: workspace, title: 'Task' }));
  const numberOf = async (unit: Unit, engine = ours): Promise<unknown> =>
    only(await engines.send(unit, engine)).record['number'];
  /** Messages of the first replica for a commit. */
  async function messagesOf(work: () => Promise<unknown>): Promise<string[]> {
    messages.length = 0;
    await work();
    return messages.filter((text) => /^(?:begin|rollback)|commit$/.test(text));
  }
  /** Until the first replica has cached the owner's membership and the last number. */
  const settle = (): Promise<unknown> =>
    eventually(async () => (await messagesOf(() => engines.send(task(), ours))).length === 1);

  it('commits a batch of INSERTs in one message', async () => {
    await settle();
    const sent = await messagesOf(() => engines.send(task(), ours));
    assert.equal(sent.length, 1);
    assert.match(sent[0] ?? '', /^begin.*commit$/s);
  });

  it('gives a task the next free number after another replica numbered tasks [sync.mutate.task-number]', async () => {
    await settle();
    const before = Number(await numberOf(task()));
    const deleted = task();
    applied(await engines.send(deleted, theirs));
    applied(await engines.send(owner.unit(change('DELETE', 'Task', deleted.mutations[0]!.modelId)), theirs));
    assert.equal(await numberOf(task()), before + 2, 'a number is not used again, even after its task was deleted');
  });

  it('refuses a member whom another replica removed [never.shown-outside]', async () => {
    const guest = await engines.join(workspace, 'member');
    await settle();
    await eventually(async () => (await messagesOf(() => engines.send(task(guest), ours))).length === 1);
    const membership = await engines.membershipOf(workspace, guest);
    applied(await engines.send(owner.unit(change('DELETE', 'WorkspaceMember', membership)), theirs));
    const late = task(guest);
    assert.equal(refused(await engines.send(late, ours)).code, 'not_found');
    assert.equal(await engines.stored('Task', late.mutations[0]!.modelId), null);
  });

  it('refuses a project with the id of a workspace or of a person, because it would give access to that group [never.shown-outside]', async () => {
    const stranger = await engines.person();
    const theirWorkspace = await engines.workspace(stranger);
    await settle();
    const home = { workspaceId: workspace, name: 'Trap' };
    for (const id of [theirWorkspace, stranger.id, stranger.id.toUpperCase()]) {
      const trap = owner.unit(change('INSERT', 'Project', id, { ...home, key: id.slice(0, 8) }));
      assert.equal(refused(await engines.send(trap, ours)).code, 'conflict');
    }
  });

  it('accepts a member whom another replica added', async () => {
    const newcomer = await engines.person();
    assert.equal(refused(await engines.send(task(newcomer), ours)).code, 'not_found');
    await settle();
    const membership = { workspaceId: workspace, userId: newcomer.id, role: 'member' };
    applied(
      await engines.send(
        { ...owner.unit(change('INSERT', 'WorkspaceMember', randomUUID(), membership)), authority: 'service' },
        theirs,
      ),
    );
    applied(await engines.send(task(newcomer), ours));
  });

  it('answers a repeated unit as the first time, and commits the other units of its batch [sync.mutate.idempotent]', async () => {
    const known = task();
    const first = only(await engines.send(known, theirs));
    await settle();
    const [again, fresh, sameRecord, foreign] = await ours.commit([
      known,
      task(),
      task(owner, first.modelId),
      { ...task(owner, first.modelId), clientId: 'another device' },
    ]);
    assert.deepEqual([only(again!).syncId, applied(again!).replayed], [first.syncId, true]);
    assert.equal(applied(fresh!).replayed, false);
    assert.equal(only(sameRecord!).syncId, first.syncId);
    assert.equal(refused(foreign!).code, 'conflict');
  });

  it('commits a batch that was sent after one that failed', async () => {
    const known = task();
    const first = only(await engines.send(known, theirs));
    await settle();
    const head = await engines.head();
    // PostgreSQL runs the first batch, and while that waits the second one is sent.
    await other.query('begin; lock table sync.tasks in share mode');
    const crowd = (unit?: Unit): Unit[] => [
      ...Array.from({ length: SYNC_LIMITS.commitBatchMutations - 1 }, () => task()),
      unit ?? task(),
    ];
    const sent = await messagesOf(async () => {
      const groups = Promise.all([ours.commit(crowd(known)), ours.commit(crowd())]);
      await eventually(() => messages.filter((text) => text.startsWith('begin')).length === 2);
      await other.query('rollback');
      const [one, two] = await groups;
      for (const outcome of [...one, ...two]) applied(outcome);
      assert.equal(only(one.at(-1)!).syncId, first.syncId);
    });
    assert.ok(sent.length > 2, 'neither was committed from the cache');
    const numbers = (await engines.entries(head)).map(({ record }) => Number(record['number']));
    assert.equal(new Set(numbers).size, 2 * SYNC_LIMITS.commitBatchMutations - 1);
    assert.equal(Math.max(...numbers) - Math.min(...numbers), numbers.length - 1);
  });

  it('clears the cache when its connection is lost, and loses no acknowledged change [never.acknowledged-lost]', async () => {
    await settle();
    await other.query('begin; lock table sync.tasks in share mode');
    const sending = engines.send(task(), ours).catch((error: unknown) => error);
    await eventually(async () => {
      const { rows } = await other.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    assert.ok((await sending) instanceof Error);
    await other.query('rollback');
    await settle();
    assert.equal(Number(await numberOf(task())) + 1, await numberOf(task()));
  });
});
