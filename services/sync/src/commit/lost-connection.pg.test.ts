import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultOfSqlState } from '@wts/service-kit/postgres';
import { eventually } from '@wts/testkit';
import { Client, type Pool } from 'pg';
import { assertLogIsState } from '../../test/fold.ts';
import { ENGINES, TestEngines, applied, change, type TestPerson } from '../../test/test-engines.ts';
import { ownTransaction } from '../store/pipeline.ts';
import type { Unit, UnitOutcome } from '../decision/unit.ts';

/** Of about half of the sessions each. More, where no commit failed yet. */
const [KILLS, KILLS_MAX] = [12, 200];

describe('a commit whose connection is lost', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;
  let killer: Client;

  before(async () => {
    ({ engines, owner, workspace } = await TestEngines.withOwner('lost_connection'));
    killer = new Client({ connectionString: engines.database.url });
    await killer.connect();
  });
  after(async () => {
    await killer.end();
    await engines[Symbol.asyncDispose]();
  });

  /**
   * Ends sessions of the engines, each with a probability. A session ends some time after this resolves, so a check on one of
   * them could still fail.
   */
  const kill = (probability: number): Promise<unknown> =>
    killer.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = $1 and random() < $2`,
      [ENGINES, probability],
    );
  const task = (title: string): Unit =>
    owner.unit(change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title }));

  /** Sends a unit again until it is answered, as clients do. */
  async function sendUntilAnswered(unit: Unit): Promise<{ outcome: UnitOutcome; failures: number }> {
    for (let failures = 0; ; failures += 1) {
      try {
        return { outcome: await engines.send(unit), failures };
      } catch (error) {
        // Callers get an error that allows another try, never its cause.
        assert.equal(faultOfSqlState(error)?.code, 'unavailable', String(error));
        assert.ok(failures < 200, 'the engine does not recover');
        await sleep(2);
      }
    }
  }

  it('is applied once when it is sent until it is answered, wherever the connection was lost [never.acknowledged-lost] [never.applied-twice]', async () => {
    const from = await engines.head();
    const units: Unit[] = [];
    const answers: Awaited<ReturnType<typeof sendUntilAnswered>>[] = [];
    let kills = 0;
    const isOver = (): boolean =>
      kills >= KILLS_MAX || (kills >= KILLS && answers.some(({ failures }) => failures > 0));
    const killing = (async () => {
      for (let answered = -1; !isOver(); kills += 1) {
        await kill(0.5);
        // On a slow machine no commit would ever finish between two kills.
        await eventually(() => isOver() || answers.length > answered, { everyMs: 2 });
        answered = answers.length;
        await sleep(Math.random() * 15);
      }
    })();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!isOver()) {
          const unit = task(`Task ${units.length}`);
          units.push(unit);
          answers.push(await sendUntilAnswered(unit));
        }
      }),
    );
    await killing;
    assert.ok(answers.some(({ failures }) => failures > 0));
    const places = answers.map(({ outcome }) => applied(outcome).lastId);
    assert.equal(new Set(places).size, units.length);
    const entries = await engines.entries(from);
    assert.deepEqual(
      entries.map(({ syncId }) => BigInt(syncId)),
      places.toSorted((a, b) => Number(a - b)),
    );
    assert.deepEqual(
      new Set(entries.map(({ modelId }) => modelId)),
      new Set(units.map(({ mutations }) => mutations[0]!.modelId)),
    );
    await assertLogIsState(await engines.entries(), engines.checks);
  });

  it('while it waits for the lock of the log writes nothing, and the next commit has a transaction of its own', async () => {
    const blocker = new Client({ connectionString: engines.database.urlOf('wts_sync'), application_name: 'blocker' });
    await blocker.connect();
    await blocker.query('begin; lock table sync.log_lock in share update exclusive mode');
    const from = await engines.head();
    const unit = task('Waits');
    const waiting = assert.rejects(engines.send(unit));
    await eventually(async () => {
      const { rows } = await killer.query(
        `select 1 from pg_locks where relation = 'sync.log_lock'::regclass and not granted`,
      );
      return rows.length === 1;
    });
    await kill(1);
    await waiting;
    await blocker.query('rollback');
    await blocker.end();
    assert.equal(await engines.head(), from);
    assert.equal(await engines.stored('Task', unit.mutations[0]!.modelId), null);
    for (const one of [unit, task('Next')]) await sendUntilAnswered(one);
    assert.equal((await engines.entries(from)).length, 2);
  });

  it('leaves no connection of the pool inside a transaction', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => sendUntilAnswered(task(`Last ${index}`))));
    const { rows } = await killer.query(
      `select state from pg_stat_activity where datname = current_database() and usename = 'wts_sync' and state like 'idle in transaction%'`,
    );
    assert.deepEqual(rows, []);
  });

  it('reads the process id of the backend again after that failed once', async () => {
    const client = await engines.pool.connect();
    let failures = 1;
    const failing = new Proxy(client, {
      get: (target, name) => {
        if (name === 'release') return () => undefined;
        if (name !== 'query') return Reflect.get(target, name) as unknown;
        return async (text: string) => {
          if (text.includes('pg_backend_pid') && failures-- > 0) throw new Error('timeout');
          return target.query(text);
        };
      },
    });
    const pool = { connect: async () => failing } as unknown as Pool;
    const { signal } = new AbortController();
    try {
      await assert.rejects(ownTransaction(pool, async () => 1, signal));
      assert.equal(await ownTransaction(pool, async () => 2, signal), 2);
    } finally {
      client.release();
    }
  });
});
