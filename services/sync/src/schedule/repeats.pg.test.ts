import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseClock } from '../../test/database-clock.ts';
import { applied, change, openEngine, TestEngines, type TestPerson } from '../../test/test-engines.ts';
import type { Pool } from 'pg';
import { SYNC_LIMITS } from '../limits.ts';
import { makePartitions } from '../store/partitions.ts';
import { REPEAT_CLIENT, RepeatScheduler } from './repeats.ts';

/** Monday 1 June 2020, and the days after it. */
const day = (number: number): string => Temporal.PlainDate.from('2020-05-31').add({ days: number }).toString();
const at = (number: number, time = '09:00'): string => `${day(number)}T${time}:00.000Z`;

describe('a task that repeats by date', () => {
  let engines: TestEngines;
  let clock: DatabaseClock;
  let owner: TestPerson;
  let workspace: string;
  const seen = { made: 0, lag: 0, waiting: 0, failed: 0 };

  before(async () => {
    engines = await TestEngines.open('repeats', 3);
    clock = await DatabaseClock.open(engines.database, at(1));
  });
  after(async () => {
    await clock[Symbol.asyncDispose]();
    await engines[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await clock.set(at(1));
    owner = await engines.person();
    workspace = await engines.workspace(owner);
  });
  /** So that no later test finds what an earlier one left. */
  afterEach(() => owner.change('Workspace', workspace, { name: 'Left' }).then(() => removeAll()));
  const removeAll = () =>
    engines.checks.query(
      'update sync.tasks set archived_at = now(), repeat_error = null where repeat_rule is not null',
    );

  const scheduler = (openMax = 7, replica = 0): RepeatScheduler =>
    new RepeatScheduler({
      pool: engines.checks,
      engine: engines.all[replica]!,
      openMax,
      watch: {
        onMade: (tasks) => (seen.made += tasks),
        onLag: (seconds) => (seen.lag = seconds),
        onStopped: (stopped) => Object.assign(seen, stopped),
      },
    });
  const run = async (one = scheduler()): Promise<void> => {
    while ((await one.turn()) === 'more');
  };
  const daily = (payload: object = {}): Promise<string> =>
    owner.make('Task', {
      workspaceId: workspace,
      title: 'Water',
      startDate: day(1),
      repeatRule: 'FREQ=DAILY',
      ...payload,
    });
  const daysOf = async (id: string): Promise<string[]> =>
    (await engines.tasksOf(id)).map(
      ({ startDate, completedAt }) => `${String(startDate).slice(5)}${completedAt === null ? '' : ' done'}`,
    );
  const complete = (id: string, number: number) => owner.change('Task', id, { completedAt: at(number) });

  it('gets its next one also when that of another task cannot be made because of a fault, which stops that series and is tried once [sync.repeat.error]', async () => {
    const [broken, ...others] = [await daily({ title: 'Broken' }), await daily(), await daily()];
    await engines.checks
      .query(`create function sync.fail() returns trigger language plpgsql as $$ begin raise 'a fault' using errcode = 'XX000'; end $$;
      create trigger fail before insert on sync.tasks for each row when (new.title = 'Broken') execute function sync.fail()`);
    await clock.set(at(2));
    await assert.rejects(run());
    await engines.checks.query('drop trigger fail on sync.tasks; drop function sync.fail');
    for (const id of others) assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
    const [stopped] = await engines.tasksOf(broken);
    assert.match(String(stopped?.['repeatError']), /unexpected error/);
    await run();
    assert.equal(seen.failed, 1);
  });

  it('is made by rounds that rest after long searches, which pass what waits for its project', async () => {
    let searches = 0;
    const query = async (text: string, values: unknown[]) => {
      searches += 1;
      await engines.checks.query('select pg_sleep(0.3)');
      return engines.checks.query(text, values);
    };
    const one = new RepeatScheduler({ pool: { query } as unknown as Pool, engine: engines.any, openMax: 7 });
    await run(one);
    assert.ok(searches > 0);
    searches = 0;
    await run(one);
    assert.equal(searches, 0);
  });

  it('has its next one when the next day begins, also while it is open, and none when it is completed then [sync.repeat.by-date]', async () => {
    const id = await daily();
    await run();
    await clock.set(at(1, '23:59'));
    await run();
    assert.deepEqual(await daysOf(id), ['06-01']);
    await clock.set(at(2, '00:00'));
    const before = await engines.head();
    await run();
    assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
    const entries = await engines.entries(before);
    assert.deepEqual(
      entries.map(({ action, modelId, clientId }) => [action, modelId === id, clientId]),
      [
        ['UPDATE', true, REPEAT_CLIENT],
        ['INSERT', false, REPEAT_CLIENT],
      ],
    );
    assert.deepEqual([entries[1]?.record['creatorId'], entries[1]?.record['start']], [owner.id, 'started']);
    assert.equal(entries[1]?.clientTxId, entries[0]?.clientTxId);
    await run();
    await complete(id, 2);
    assert.deepEqual(await daysOf(id), ['06-01 done', '06-02']);
  });

  it('is made once by several schedulers on several replicas, and after each of them was restarted [sync.repeat.once]', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => daily()));
    await clock.set(at(2));
    await Promise.all([0, 1, 2, 0, 1, 2].map((replica) => run(scheduler(7, replica))));
    await run();
    for (const id of ids) assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
  });

  it('waits and says so when too many of its series are open, and goes on with a day to come [sync.repeat.waiting]', async () => {
    const id = await daily();
    for (let number = 2; number <= 10; number += 1) {
      await clock.set(at(number));
      await run();
    }
    assert.deepEqual((await daysOf(id)).at(-1), '06-07');
    assert.equal((await engines.tasksOf(id)).length, 7);
    const newest = (await engines.tasksOf(id)).at(-1)!;
    assert.deepEqual([newest['repeatWaiting'], newest['repeatNextDate']], [true, day(11)]);
    assert.equal(seen.waiting, 1);
    await complete(id, 10);
    await run();
    assert.equal((await engines.tasksOf(id)).length, 7, 'not before its day');
    await clock.set(at(11));
    await run();
    const resumed = (await engines.tasksOf(id)).at(-1)!;
    assert.deepEqual([resumed['startDate'], resumed['repeatWaiting'], resumed['repeatIndex']], [day(11), false, 11]);
    assert.equal(seen.waiting, 0);
  });

  it('with one open task at a time waits, and swallows no day when that is completed late', async () => {
    const id = await daily();
    await clock.set(at(2));
    await run(scheduler(1));
    assert.deepEqual(await daysOf(id), ['06-01']);
    await clock.set(at(4));
    await complete(id, 4);
    assert.deepEqual(await daysOf(id), ['06-01 done', '06-04']);
  });

  it('has one task, for today, after days on which no scheduler ran, and COUNT ends on its day all the same', async () => {
    const [id, counted] = [await daily(), await daily({ repeatRule: 'FREQ=DAILY;COUNT=12' })];
    await clock.set(at(11));
    await run();
    assert.deepEqual(await daysOf(id), ['06-01', '06-11']);
    assert.equal((await engines.tasksOf(id)).at(-1)?.['repeatIndex'], 11);
    assert.equal(Math.floor(seen.lag), 9 * 86_400 + 9 * 3600, 'since the beginning of the second day');
    await clock.set(at(20));
    await run();
    assert.deepEqual(await daysOf(counted), ['06-01', '06-11', '06-12']);
    assert.equal((await engines.tasksOf(counted)).at(-1)?.['repeatRule'], null);
  });

  it('whose only day was missed has a task with that day, because it has not come again', async () => {
    const id = await daily({ repeatRule: 'FREQ=YEARLY' });
    await clock.set('2021-08-01T09:00:00.000Z');
    await run();
    assert.deepEqual((await engines.tasksOf(id)).at(-1)?.['startDate'], '2021-06-01');
  });

  it('is made neither twice nor early when the clock of the database goes back and forth', async () => {
    const id = await daily();
    for (const now of [at(2, '00:30'), at(1, '22:30'), at(2, '00:30'), at(2, '02:30'), at(1, '23:59')]) {
      await clock.set(now);
      await run();
      assert.deepEqual(await daysOf(id), ['06-01', '06-02'], now);
    }
    assert.equal((await engines.tasksOf(id)).at(-1)?.['repeatNextDate'], day(3));
  });

  it('begins its day in the time zone of its workspace, also when that changes, and no day is made twice', async () => {
    const id = await daily();
    await clock.set(at(1, '23:30'));
    await run();
    assert.deepEqual(await daysOf(id), ['06-01']);
    await owner.change('Workspace', workspace, { timeZone: 'Pacific/Auckland' });
    await run();
    assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
    await owner.change('Workspace', workspace, { timeZone: 'America/Los_Angeles' });
    for (const now of [at(2, '00:30'), at(2, '23:00'), at(3, '06:59')]) {
      await clock.set(now);
      await run();
      assert.deepEqual(await daysOf(id), ['06-01', '06-02'], now);
    }
    await clock.set(at(3, '07:00'));
    await run();
    assert.deepEqual(await daysOf(id), ['06-01', '06-02', '06-03']);
  });

  it('begins a day without midnight with its first moment', async () => {
    await owner.change('Workspace', workspace, { timeZone: 'Africa/Cairo' });
    const id = await daily({ startDate: '2024-04-25' });
    await clock.set('2024-04-25T21:59:59.000Z');
    await run();
    assert.deepEqual(await daysOf(id), ['04-25']);
    // 01:00 there, because 00:00 to 00:59 of 26 April 2024 do not exist.
    await clock.set('2024-04-25T22:00:00.000Z');
    await run();
    assert.deepEqual(await daysOf(id), ['04-25', '04-26']);
  });

  it('is made again after a backup was restored that does not have it, and is the only one', async () => {
    const id = await daily();
    const saved = ['tasks', 'task_counters'] as const;
    const head = await engines.head();
    for (const table of saved) await engines.checks.query(`create table sync.saved_${table} as table sync.${table}`);
    await clock.set(at(2));
    await run();
    await complete(id, 2);
    for (const table of saved)
      await engines.checks.query(
        `delete from sync.${table}; insert into sync.${table} table sync.saved_${table}; drop table sync.saved_${table}`,
      );
    for (const [table, column] of [
      ['sync_actions', 'sync_id'],
      ['idempotency_keys', 'last_id'],
    ] as const)
      await engines.checks.query(`delete from sync.${table} where ${column} > $1`, [head]);
    await makePartitions(engines.checks, head, 1_000_000n);
    await engines.checks.query('select sync.begin_epoch()');
    const engine = openEngine({ pool: engines.pool });
    await run(new RepeatScheduler({ pool: engines.checks, engine, openMax: 7 }));
    await run();
    assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
  });

  it('pauses in Trash and in an archived project, and then goes on with the latest day; a deleted one has ended', async () => {
    const projectId = await owner.make('Project', { workspaceId: workspace, key: 'P', name: 'P' });
    const [inTrash, inProject, deleted, done] = [
      await daily(),
      await daily({ projectId }),
      await daily(),
      await daily({ projectId }),
    ];
    applied(await owner.try('ARCHIVE', 'Task', inTrash));
    applied(await owner.try('ARCHIVE', 'Project', projectId));
    await owner.delete('Task', deleted);
    await complete(done, 1);
    await clock.set(at(5));
    await run();
    for (const id of [inTrash, inProject, done]) assert.equal((await engines.tasksOf(id)).length, 1);
    applied(await owner.try('UNARCHIVE', 'Task', inTrash));
    applied(await owner.try('UNARCHIVE', 'Project', projectId));
    await run();
    for (const id of [inTrash, inProject]) assert.deepEqual(await daysOf(id), ['06-01', '06-05']);
    assert.deepEqual(await daysOf(done), ['06-01 done', '06-05']);
    assert.deepEqual(await daysOf(deleted), []);
  });

  it('is made although its creator has left, and for all others although one fails, which says why [sync.repeat.error]', async () => {
    const leaver = await engines.join(workspace, 'member');
    const left = await leaver.make('Task', {
      workspaceId: workspace,
      title: 'L',
      startDate: day(1),
      repeatRule: 'FREQ=DAILY',
    });
    await leaver.delete('WorkspaceMember', await engines.membershipOf(workspace, leaver));
    const [failing, other] = [await daily(), await daily()];
    const items = Array.from({ length: SYNC_LIMITS.repeatChecklistItemsMax + 1 }, () => {
      const item = { workspaceId: workspace, taskId: failing, title: 'x' };
      return owner.unit(change('INSERT', 'TaskChecklistItem', randomUUID(), item));
    });
    (await engines.any.commit(items)).map(applied);
    await clock.set(at(2));
    await run();
    const before = await engines.head();
    await run();
    assert.equal(await engines.head(), before, 'it is not tried again and again');
    for (const id of [left, other]) assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
    const [stopped] = await engines.tasksOf(failing);
    assert.match(String(stopped?.['repeatError']), /more than 500 items/);
    assert.equal(seen.failed, 1);
    await engines.checks.query('delete from sync.task_checklist_items where task_id = $1', [failing]);
    await owner.change('Task', failing, { title: 'Again' });
    await run();
    assert.deepEqual(await daysOf(failing), ['06-01', '06-02']);
  });

  /** A scheduler on the first replica, after whose search something happens on the second. */
  const racing = (meanwhile: () => Promise<unknown>): RepeatScheduler =>
    new RepeatScheduler({
      pool: engines.checks,
      openMax: 7,
      engine: { commit: async (units) => (await meanwhile(), engines.all[0]!.commit(units)) },
    });

  it('that the scheduler found is left alone when it was changed meanwhile', async () => {
    const id = await daily();
    await clock.set(at(2));
    await run(racing(() => owner.change('Task', id, { repeatRule: null })));
    assert.deepEqual(await daysOf(id), ['06-01']);
  });

  it('has no next one in a workspace that was deleted meanwhile, until that is restored [trash.workspace.read-only]', async () => {
    const id = await daily();
    await clock.set(at(2));
    const { urlKey } = (await engines.stored('Workspace', workspace))!.record;
    const remove = owner.unit(change('ARCHIVE', 'Workspace', workspace, { urlKey }));
    await run(racing(() => engines.send(remove, engines.all[1])));
    assert.deepEqual(await daysOf(id), ['06-01']);
    await run();
    applied(await owner.try('UNARCHIVE', 'Workspace', workspace));
    await run();
    assert.deepEqual(await daysOf(id), ['06-01', '06-02']);
  });
});
