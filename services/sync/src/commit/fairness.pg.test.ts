import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Fault } from '@wts/contracts';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { eventually } from '@wts/testkit';
import { Client, type Pool, type PoolClient } from 'pg';
import { TestEngines, applied, change, openEngine, refused, type TestPerson } from '../../test/test-engines.ts';
import { COMMITTING } from '../store/pipeline.ts';
import { COMMIT_CONNECTIONS, type CommitEngine, type CommitWatch } from './engine.ts';
import type { Unit } from '../decision/unit.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** The units of all batches that an engine may run, and of the next one. */
const SOON = 6 * 128;

describe('the changes of one person next to those of another [never.one-takes-all]', () => {
  let engines: TestEngines;
  let busy: TestPerson;
  let home: string;
  let other: TestPerson;
  let elsewhere: string;
  let stack: AsyncDisposableStack;

  before(async () => {
    engines = await TestEngines.open('fairness');
    [busy, other] = [await engines.person('Busy'), await engines.person('Other')];
    [home, elsewhere] = [await engines.workspace(busy), await engines.workspace(other)];
  });
  after(() => engines[Symbol.asyncDispose]());
  beforeEach(() => (stack = new AsyncDisposableStack()));
  afterEach(() => stack.disposeAsync());

  /** A replica, and how many transactions it has begun. */
  function replica(
    watch: CommitWatch = {},
    applicationName = 'wts-sync',
  ): { engine: CommitEngine; begun: () => number; pool: Pool } {
    const log = createLogger({ name: 'test', level: 'silent' });
    const url = engines.database.urlOf('wts_sync');
    const { pool } = openPostgres({ url, poolMax: COMMIT_CONNECTIONS, applicationName, ...COMMITTING, log, stack });
    let count = 0;
    pool.on('connect', (client: PoolClient) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      Object.assign(client, {
        query: (...args: unknown[]): unknown => {
          if (typeof args[0] === 'string' && args[0].startsWith('begin')) count += 1;
          return query(...args);
        },
      });
    });
    return { engine: openEngine({ pool, watch }), begun: () => count, pool };
  }

  async function entriesBetween(after: bigint, upTo: bigint): Promise<number> {
    const { rows } = await engines.checks.query<{ count: number }>(
      'select count(*)::integer as count from sync.sync_actions where sync_id > $1 and sync_id <= $2',
      [after, upTo].map(String),
    );
    return rows[0]!.count;
  }

  const task = (whose: TestPerson, workspaceId: string): Unit =>
    whose.unit(change('INSERT', 'Task', randomUUID(), { workspaceId, title: 'T' }));
  const tasks = (count: number): Unit[] => Array.from({ length: count }, () => task(busy, home));
  const honest = (): Unit => task(other, elsewhere);

  /** Concurrent requests of one person, which end with the test. */
  function attackOn(engine: CommitEngine, requests: number, units: (request: number) => Unit[]): () => Promise<void> {
    const leaving = new AbortController();
    const all = Array.from({ length: requests }, (_, n) => engine.commit(units(n), { signal: leaving.signal }));
    const over = Promise.allSettled(all);
    return async () => {
      leaving.abort();
      await over;
    };
  }

  async function blocker(statement: string, values: unknown[] = []): Promise<Client> {
    const client = new Client({ connectionString: engines.database.urlOf('wts_sync'), application_name: 'blocker' });
    await client.connect();
    stack.defer(async () => client.end());
    await client.query('begin');
    await client.query(statement, values);
    return client;
  }

  it('a request in several batches gets its outcomes in order, also when those of its first part take longest', async () => {
    let batches = 0;
    const { engine, pool } = replica({ onBatch: () => (batches += 1) });
    await engine.archivedWorkspaces.refresh();
    // A refused unit is looked up again before it is answered.
    const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
    pool.query = (async (...args: unknown[]) => {
      await eventually(() => batches >= 2);
      return query(...args);
    }) as typeof pool.query;
    const missing = busy.unit(change('UPDATE', 'Task', randomUUID(), { title: 'T' }));
    const made = tasks(SYNC_LIMITS.commitBatchMutations);
    const outcomes = await engine.commit([missing, ...made]);
    assert.equal(refused(outcomes[0]!).code, 'not_found');
    for (const [index, unit] of made.entries())
      assert.equal(applied(outcomes[index + 1]!).mutations[0]?.record.id, unit.mutations[0]?.modelId);
  });

  it('a change of a person in thousands of workspaces does not read all their memberships', async () => {
    const { engine, pool } = replica();
    const [where] = (
      await engines.pool.query<{ id: string }>(`select id from sync.workspace_members where user_id = $1`, [busy.id])
    ).rows;
    await engines.pool.query(
      `insert into sync.workspace_members select made.* from sync.workspace_members m, (select gen_random_uuid() as id, gen_random_uuid() as home from generate_series(1, 2000)) g,
         lateral jsonb_populate_record(m, jsonb_build_object('id', g.id, 'workspace_id', g.home, 'group_id', g.home, 'record', m.record::jsonb || jsonb_build_object('id', g.id, 'workspaceId', g.home))) made
       where m.id = $1`,
      [where!.id],
    );
    let rows = 0;
    pool.on('connect', (client: PoolClient) => {
      const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
      connection.on('dataRow', () => (rows += 1));
    });
    try {
      applied((await engine.commit([task(busy, home)]))[0]!);
      assert.ok(rows > 0 && rows < 2 * SYNC_LIMITS.commitMembershipsReadMax, `${rows} rows`);
    } finally {
      await engines.pool.query('delete from sync.workspace_members where user_id = $1 and id <> $2', [
        busy.id,
        where!.id,
      ]);
    }
  });

  it('a change that is too large is decided once, and not again for each unit of its batch', async () => {
    const { engine, begun } = replica();
    const taskId = await busy.make('Task', { workspaceId: home, title: 'Large' });
    await busy.make('TaskChecklistItem', { workspaceId: home, taskId, title: 'Item' });
    await engines.pool.query(
      `insert into sync.task_checklist_items select made.* from sync.task_checklist_items t, (select gen_random_uuid() as id from generate_series(1, 10050)) g,
         lateral jsonb_populate_record(t, jsonb_build_object('id', g.id, 'record', t.record::jsonb || jsonb_build_object('id', g.id))) made
       where t.task_id = $1`,
      [taskId],
    );
    const attack = Array.from({ length: 3 }, () =>
      engine.commit(Array.from({ length: 100 }, () => busy.unit(change('DELETE', 'Task', taskId, {})))),
    );
    applied((await engine.commit([honest()]))[0]!);
    await Promise.all(attack);
    assert.ok(begun() < 40, `${begun()} transactions`);
  });

  it('changes that take long to decide are divided over batches', async () => {
    const { engine, begun } = replica();
    const batchesOf = async (fields: (index: number) => object): Promise<number> => {
      const before = begun();
      const units = Array.from({ length: SYNC_LIMITS.commitBatchMutations }, (_, index) =>
        busy.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: home, title: 'T', ...fields(index) })),
      );
      for (const outcome of await engine.commit(units)) applied(outcome);
      return begun() - before;
    };
    const plain = await batchesOf(() => ({}));
    // Each has other days, so none is found among those that were searched.
    const costly = await batchesOf((index) => ({
      repeatRule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO',
      deadlineAt: new Date(Date.UTC(2027, 0, 1 + index)).toISOString().slice(0, 10),
    }));
    assert.ok(costly > plain, `${costly} batches, and ${plain} of plain tasks`);
  });

  it('a unique key that is taken refuses its own unit, and the other units are not read again', async () => {
    const { engine, begun } = replica();
    await busy.make('Project', { workspaceId: home, key: 'TAKEN', name: 'P' });
    const attack = Array.from({ length: 8 }, () =>
      engine.commit(
        Array.from({ length: 100 }, () =>
          busy.unit(change('INSERT', 'Project', randomUUID(), { workspaceId: home, key: 'TAKEN', name: 'P' })),
        ),
      ),
    );
    applied((await engine.commit([honest()]))[0]!);
    for (const outcomes of await Promise.all(attack)) {
      for (const outcome of outcomes) assert.equal(refused(outcome).error, 'Another Project has this key');
    }
    assert.ok(begun() < 60, `${begun()} transactions`);
  });

  it('a unique key that is taken, freed and taken again within a batch is decided as in separate batches', async () => {
    const { engine } = replica();
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
    const project = (id: string, key: string) => change('INSERT', 'Project', id, { workspaceId: home, key, name: 'P' });
    const outcomes = await engine.commit(
      [
        project(one, 'AAA'),
        project(two, 'AAA'),
        change('UPDATE', 'Project', one, { key: 'BBB' }),
        project(three, 'AAA'),
        change('UPDATE', 'Project', three, { key: 'BBB' }),
        change('DELETE', 'Project', one, {}),
        change('UPDATE', 'Project', three, { key: 'BBB' }),
      ].map((mutation) => busy.unit(mutation)),
    );
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [true, false, true, true, false, true, true],
    );
  });

  it('64 requests of 100 changes: the single request of another person is in one of the next batches, not after them', async () => {
    const { engine } = replica();
    const end = attackOn(engine, 64, () => tasks(100));
    const committing = engine.commit([honest()]);
    // After it was asked for, because batches go on while the head is read.
    const from = await engines.head();
    const { lastId } = applied((await committing)[0]!);
    const before = await entriesBetween(from, lastId);
    assert.ok(before <= SOON, `${before} entries came before it`);
    await end();
  });

  it('are committed with two replicas, and while one of them is killed', async () => {
    const [here, there] = [replica(), replica({}, 'dying')];
    const ends = [here, there].map(({ engine }) => attackOn(engine, 20, () => tasks(100)));
    const killer = new Client({ connectionString: engines.database.url });
    await killer.connect();
    stack.defer(async () => killer.end());
    for (let round = 0; round < 3; round += 1) {
      const committing = here.engine.commit([honest()]);
      const from = await engines.head();
      const { lastId } = applied((await committing)[0]!);
      const before = await entriesBetween(from, lastId);
      assert.ok(before <= 2 * SOON, `${before} entries came before it`);
      await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'dying'`,
      );
    }
    for (const end of ends) await end();
  });

  it('keep the order of a request that several batches commit [sync.mutate.order]', async () => {
    const { engine } = replica();
    const id = await busy.make('Task', { workspaceId: home, title: 'Start' });
    const from = await engines.head();
    const request = engine.commit(
      Array.from({ length: 100 }, (_, n) => busy.unit(change('UPDATE', 'Task', id, { title: `${n}` }))),
    );
    await Promise.all(Array.from({ length: 30 }, () => engine.commit([honest()])));
    for (const outcome of await request) applied(outcome);
    const titles = (await engines.entries(from))
      .filter(({ modelId }) => modelId === id)
      .map(({ data }) => data['title']);
    assert.deepEqual(
      titles,
      Array.from({ length: 100 }, (_, n) => `${n}`),
    );
  });

  it('a lock that another session holds delays only the changes that need the row', async () => {
    const { engine } = replica();
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => busy.make('Task', { workspaceId: home, title: 'T' })),
    );
    const lock = await blocker('select 1 from sync.tasks where id = any($1) for update', [ids]);
    const waiting = ids.map((id) => engine.commit([busy.unit(change('UPDATE', 'Task', id, { title: 'New' }))]));
    for (let round = 0; round < 3; round += 1) applied((await engine.commit([honest()]))[0]!);
    await lock.query('rollback');
    for (const outcomes of await Promise.all(waiting)) applied(outcomes[0]!);
  });

  it('when the queue is full, the person with most requests is refused, with a time to try again [never.unbounded]', async () => {
    let refusals = 0;
    const { engine } = replica({ onRefused: (requests) => (refusals += requests) });
    const lock = await blocker('lock table sync.tasks in access exclusive mode');
    const end = attackOn(engine, 230, () => tasks(100));
    assert.ok(refusals > 0 && engine.waiting <= SYNC_LIMITS.commitQueueMutationsMax);
    const answer = engine.commit([honest()]);
    await assert.rejects(
      engine.commit(tasks(100), { deadlineMs: performance.now() + 100 }),
      (error) => error instanceof Fault && error.code === 'unavailable' && (error.retryAfterSeconds ?? 0) >= 1,
    );
    await lock.query('rollback');
    applied((await answer)[0]!);
    await end();
  });

  describe('whose client has disconnected', () => {
    const large = 'd'.repeat(49_000);

    it('are not begun, and their running statement is cancelled', async () => {
      const dropped: string[] = [];
      const { engine } = replica({ onDropped: (reason) => dropped.push(reason) });
      const ids = Array.from({ length: 20 }, () => randomUUID());
      const made = ids.map((id) =>
        busy.unit(change('INSERT', 'Task', id, { workspaceId: home, title: 'T', description: large })),
      );
      for (const outcome of await engine.commit(made)) applied(outcome);
      const from = await engines.head();
      const leave = attackOn(engine, 60, (n) =>
        Array.from({ length: 100 }, (_, m) =>
          busy.unit(change('UPDATE', 'Task', ids[m % 20]!, { priority: (n + m) % 5 })),
        ),
      );
      await eventually(async () => (await engines.head()) > from);
      await leave();
      const atLeaving = await engines.head();
      applied((await engine.commit([honest()]))[0]!);
      await eventually(() => engine.waiting === 0);
      assert.ok(dropped.includes('gone'));
      const after = await entriesBetween(atLeaving, await engines.head());
      assert.ok(after <= SOON, 'the changes went on being made');
    });

    it('release their batch slot while they wait for a lock', async () => {
      let cancelled = 0;
      const { engine } = replica({ onCancelled: () => (cancelled += 1) });
      const id = await busy.make('Task', { workspaceId: home, title: 'T' });
      const lock = await blocker('select 1 from sync.tasks where id = $1 for update', [id]);
      const leave = attackOn(engine, 4, () => [busy.unit(change('UPDATE', 'Task', id, { title: 'Gone' }))]);
      const isWaiting = async (): Promise<boolean> => {
        const { rows } = await engines.pool.query(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        );
        return rows.length > 0;
      };
      await eventually(isWaiting);
      await leave();
      await eventually(async () => !(await isWaiting()));
      assert.ok(cancelled > 0);
      await lock.query('rollback');
      assert.equal((await engines.stored('Task', id))?.record['title'], 'T');
      const isIdle = `select 1 from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()`;
      // PostgreSQL itself ends such a transaction after ten seconds.
      await eventually(async () => (await engines.pool.query(isIdle)).rows.length === 0, { deadlineMs: 8_000 });
    });

    it('do not affect the other requests of the batch', async () => {
      const { engine } = replica();
      const lock = await blocker('lock table sync.tasks in access exclusive mode');
      const first = engine.commit([honest()]);
      const leaving = new AbortController();
      const gone = engine.commit(tasks(5), { signal: leaving.signal });
      const stays = engine.commit([honest()]);
      await eventually(async () => {
        const { rows } = await engines.pool.query(
          `select 1 from pg_locks where relation = 'sync.tasks'::regclass and not granted`,
        );
        return rows.length > 0;
      });
      leaving.abort();
      await assert.rejects(gone, (error) => error instanceof Fault && error.code === 'unavailable');
      await lock.query('rollback');
      for (const [outcome] of await Promise.all([first, stays])) applied(outcome!);
    });

    it('or whose deadline is over, are refused with a time to try again, and not begun', async () => {
      const dropped: string[] = [];
      const { engine } = replica({ onDropped: (reason) => dropped.push(reason) });
      const first = engine.commit([honest()]);
      const late = engine.commit(tasks(3), { deadlineMs: performance.now() + 0.01 });
      await assert.rejects(late, (error) => error instanceof Fault && error.code === 'unavailable');
      applied((await first)[0]!);
      assert.ok(dropped.length <= 1 && engine.waiting === 0);
    });
  });
});
