import { eventually, type Store, type TestSystem } from '@wts/testkit';
import { endOfStream } from '@wts/verify';
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { replicatedSystem } from './replicated-system.ts';
import { underLoad } from './under-load.ts';

/** A lock of this test. A trigger acquires it on each insert into the log. */
const INSERT_LOCK = 7_305_999;
const REPLICAS = [0, 1];

/**
 * The test kills both replicas when a commit has reached a certain point, while clients write and retry. A change that was
 * committed by then must be in the log once; the next attempt must commit any other.
 */
describe('sync killed at each point of a commit', () => {
  let testSystem: TestSystem;
  let admin: Client;
  before(async () => {
    testSystem = await replicatedSystem();
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
  });

  const wires = (store: Store): ReturnType<TestSystem['wire']>[] =>
    REPLICAS.map((one) => testSystem.wire('sync', store, one));
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
    readonly reach: () => Promise<void>;
    /** Called after the kill: removes what held the commit. */
    readonly release: () => Promise<void>;
  }

  async function killAt({ reach, release }: Point): Promise<void> {
    const killAndStart = async (): Promise<void> => {
      await reach();
      await Promise.all(REPLICAS.map((one) => testSystem.service('sync', one).kill('SIGKILL')));
      await release();
      await Promise.all(REPLICAS.map((one) => testSystem.service('sync', one).start()));
      await testSystem.untilReady();
    };
    const written = await underLoad(testSystem, killAndStart, { completes: true });
    assert.ok(written.retries > 0, 'no client had to retry');
  }

  const title = (point: string): string =>
    `${point} loses, doubles and reorders nothing [never.actions-lost, never.acknowledged-lost, never.applied-twice, sync.repeat.once]`;

  it(title('before it has the lock of the log'), () =>
    killAt({
      reach: async () => {
        await holdLog();
        await eventually(isLogWaitedFor);
      },
      release: async () => void (await admin.query('commit')),
    }),
  );

  it(title('after the insert, while the database continues the transaction'), () =>
    killAt({
      reach: async () => {
        await hold(INSERT_LOCK);
        await eventually(() => isWaitedFor(INSERT_LOCK));
      },
      release: async () => void (await unlock(INSERT_LOCK)),
    }),
  );

  it(title('after the insert, while the database aborts the transaction'), () =>
    killAt({
      reach: async () => {
        await hold(INSERT_LOCK);
        await eventually(() => isWaitedFor(INSERT_LOCK));
      },
      release: async () => {
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'wts_sync'`,
        );
        await unlock(INSERT_LOCK);
      },
    }),
  );

  it(title('after the commit, before the reply of PostgreSQL'), () =>
    killAt({
      reach: async () => {
        await hold(INSERT_LOCK);
        await eventually(() => isWaitedFor(INSERT_LOCK));
        const before = await headOf();
        for (const wire of wires('postgres')) wire.holdReplies();
        await unlock(INSERT_LOCK);
        await eventually(async () => (await headOf()) > before);
      },
      release: async () => {
        for (const wire of wires('postgres')) wire.mend();
      },
    }),
  );

  it(title('after publishing, before the reply of NATS'), () =>
    killAt({
      reach: async () => {
        const lastOf = async (): Promise<number> => (await endOfStream(testSystem.nats.url)).sequence;
        for (const wire of wires('nats')) wire.holdReplies();
        // The relay waits for a reply that never arrives: the log grows, and the relay publishes nothing.
        let [last, head] = [await lastOf(), await headOf()];
        await eventually(async () => {
          const now = await lastOf();
          if (now !== last) [last, head] = [now, await headOf()];
          return (await headOf()) >= head + 20;
        });
      },
      release: async () => {
        for (const wire of wires('nats')) wire.mend();
      },
    }),
  );

  it('and a frozen connection to NATS delays no entry, and the stream catches up afterwards [never.actions-lost]', async () => {
    await underLoad(testSystem, async (receivedMore) => {
      for (const wire of wires('nats')) wire.freeze();
      await receivedMore();
      for (const wire of wires('nats')) wire.mend();
    });
    await eventually(async () => Number((await endOfStream(testSystem.nats.url)).position) === (await headOf()));
  });
});
