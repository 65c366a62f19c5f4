import { eventually, type Store, type TestSystem } from '@wts/testkit';
import { endOfStream } from '@wts/verify';
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { replicatedSystem } from './replicated-system.ts';
import { underLoad } from './under-load.ts';

/** A lock of this test. A trigger acquires it on each insert into the log. */
const INSERT_LOCK = 7_305_999;

/**
 * The test kills sync when a commit has reached a certain point, while clients write and retry. A change that was committed by then must
 * be in the log once; the next attempt must commit any other. Sync has one replica here, which is in every commit that the test holds.
 */
describe('sync killed at each point of a commit', () => {
  let testSystem: TestSystem;
  let admin: Client;
  before(async () => {
    testSystem = await replicatedSystem();
    await testSystem.service('sync', 1).stop();
    admin = new Client({ connectionString: testSystem.database.url });
    await admin.connect();
    await admin.query(
      `create function sync.wait_here() returns trigger language plpgsql as
         $$ begin perform pg_advisory_xact_lock_shared(${INSERT_LOCK}); return null; end $$;
       create trigger wait_here after insert on sync.sync_actions for each statement execute function sync.wait_here()`,
    );
  });
  after(async () => {
    await admin.query('drop function sync.wait_here cascade');
    await admin.end();
    await testSystem.service('sync', 1).start();
    await testSystem.untilReady();
  });

  const wireTo = (store: Store): ReturnType<TestSystem['wire']> => testSystem.wire('sync', store);
  const hold = (key: number): Promise<unknown> => admin.query('select pg_advisory_lock($1)', [key]);
  const unlock = (key: number): Promise<unknown> => admin.query('select pg_advisory_unlock($1)', [key]);
  const isWaitedFor = async (key: number): Promise<boolean> =>
    (await admin.query(`select from pg_locks where locktype = 'advisory' and not granted and objid = $1`, [key]))
      .rowCount !== 0;
  /** Commits compute positions under this lock: `services/sync/src/store/log.ts`. */
  const holdLog = (): Promise<unknown> => admin.query('begin; lock table sync.log_lock in share update exclusive mode');
  const isLogWaitedFor = async (): Promise<boolean> =>
    (await admin.query(`select from pg_locks where relation = 'sync.log_lock'::regclass and not granted`)).rowCount !==
    0;
  const headOf = async (): Promise<number> => {
    const { rows } = await admin.query<{ head: string }>('select max(sync_id)::text as head from sync.sync_actions');
    return Number(rows[0]?.head);
  };

  interface Point {
    /** Resolves when a commit has reached the point and is held there. */
    readonly reach: () => Promise<unknown>;
    /** Called after the kill: removes what held the commit. */
    readonly release: () => unknown;
  }

  const inserted = async (): Promise<void> => {
    await hold(INSERT_LOCK);
    await eventually(() => isWaitedFor(INSERT_LOCK));
  };

  const POINTS: Readonly<Record<string, Point>> = {
    'before it has the lock of the log': {
      reach: async () => {
        await holdLog();
        await eventually(isLogWaitedFor);
      },
      release: () => admin.query('commit'),
    },
    'after the insert, while the database continues the transaction': {
      reach: inserted,
      release: () => unlock(INSERT_LOCK),
    },
    'after the insert, while the database aborts the transaction': {
      reach: inserted,
      release: async () => {
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'wts_sync'`,
        );
        await unlock(INSERT_LOCK);
      },
    },
    'after the commit, before the reply of PostgreSQL': {
      reach: async () => {
        await inserted();
        const before = await headOf();
        wireTo('postgres').holdReplies();
        await unlock(INSERT_LOCK);
        await eventually(async () => (await headOf()) > before);
      },
      release: () => wireTo('postgres').mend(),
    },
    'after publishing, before the reply of NATS': {
      reach: async () => {
        const lastOf = async (): Promise<number> => (await endOfStream(testSystem.nats.url)).sequence;
        wireTo('nats').holdReplies();
        // The relay waits for a reply that never arrives: the log grows, and the relay publishes nothing.
        let [last, head] = [await lastOf(), await headOf()];
        await eventually(async () => {
          const now = await lastOf();
          if (now !== last) [last, head] = [now, await headOf()];
          return (await headOf()) >= head + 20;
        });
      },
      release: () => wireTo('nats').mend(),
    },
  };

  it('loses, doubles and reorders nothing [never.actions-lost, never.acknowledged-lost, never.applied-twice, sync.repeat.once]', async () => {
    const killAtEach = async (receivedMore: () => Promise<unknown>): Promise<void> => {
      for (const [name, { reach, release }] of Object.entries(POINTS)) {
        await reach().catch((cause: unknown) => assert.fail(`no commit was held ${name}: ${String(cause)}`));
        await testSystem.service('sync').kill('SIGKILL');
        await release();
        await testSystem.service('sync').start();
        await receivedMore();
      }
    };
    const { retries } = await underLoad(testSystem, killAtEach, { completes: true });
    assert.ok(retries >= Object.keys(POINTS).length, `${retries} retries`);
  });

  it('and a frozen connection to NATS delays no entry, and the stream catches up afterwards [never.actions-lost]', async () => {
    await underLoad(testSystem, async (receivedMore) => {
      wireTo('nats').freeze();
      await receivedMore();
      wireTo('nats').mend();
    });
    await eventually(async () => Number((await endOfStream(testSystem.nats.url)).position) === (await headOf()));
  });
});
