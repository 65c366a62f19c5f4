import { eventually, startTestSystem, type Store, type TestSystem } from '@wts/testkit';
import {
  begin,
  endOfStream,
  checkSystem,
  listenByPolling,
  listenBySocket,
  writeUntil,
  type Listener,
  type Written,
} from '@wts/verify';
import assert from 'node:assert/strict';
import { Client } from 'pg';

/** The lock under which places in the log are given: `services/sync/src/store/log.ts`. */
const LOG_LOCK = 7_368_011;
/** A lock of this test's own, which each insert into the log asks for. */
const INSERT_LOCK = 7_305_999;
const REPLICAS = [0, 1];
/** Entries that everybody must hear before it counts as going on. */
const MORE = 10;

/**
 * Both replicas are killed at a point of the way of a change that they have certainly reached, while people write and send
 * again what was not answered. What had been done by then must stand, once; what had not must be done by the next try.
 */
describe('sync killed at each point of a commit', function () {
  this.timeout(120_000);
  let stack: AsyncDisposableStack;
  let testSystem: TestSystem;
  let admin: Client;
  before(async () => {
    stack = new AsyncDisposableStack();
    testSystem = stack.use(await startTestSystem({ label: 'crash-points', syncReplicas: 2, wires: true }));
    admin = await connected();
    await admin.query(
      `create function sync.wait_here() returns trigger language plpgsql as
         $$ begin perform pg_advisory_xact_lock_shared(${INSERT_LOCK}); return null; end $$;
       create trigger wait_here after insert on sync.sync_actions for each statement execute function sync.wait_here()`,
    );
  });
  after(() => stack.disposeAsync());

  async function connected(): Promise<Client> {
    const client = stack.adopt(new Client({ connectionString: testSystem.database.url }), (one) => one.end());
    await client.connect();
    return client;
  }

  const wires = (store: Store): ReturnType<TestSystem['wire']>[] =>
    REPLICAS.map((one) => testSystem.wire('sync', store, one));
  const hold = (key: number): Promise<unknown> => admin.query('select pg_advisory_lock($1)', [key]);
  const letGo = (key: number): Promise<unknown> => admin.query('select pg_advisory_unlock($1)', [key]);
  const isWaitedFor = async (key: number): Promise<boolean> =>
    (await admin.query(`select from pg_locks where locktype = 'advisory' and not granted and objid = $1`, [key]))
      .rowCount !== 0;
  const headOf = async (): Promise<number> => {
    const { rows } = await admin.query<{ head: string }>('select max(sync_id)::text as head from sync.sync_actions');
    return Number(rows[0]?.head);
  };

  interface Point {
    /** Resolves when a commit stands at the point. */
    readonly reach: () => Promise<void>;
    /** After the death: what was in the way of the dead is gone. */
    readonly release: () => Promise<void>;
  }

  /** People write and listen while something happens, and for long enough after it; then all is judged. */
  async function underLoad(happen: (heardMore: () => Promise<unknown>) => Promise<void>): Promise<Written> {
    await using hears = new AsyncDisposableStack();
    const beginning = await begin(testSystem);
    const { after: start } = beginning;
    const target = { baseUrl: testSystem.baseUrl, token: testSystem.apiKey };
    const listeners: Listener[] = [1, 2, 3, 4].map((one) => hears.use(listenBySocket(target, `socket ${one}`, start)));
    listeners.push(hears.use(listenByPolling(target, 'poller', start)));
    const stop = new AbortController();
    const writing = writeUntil(testSystem, 6, stop.signal);
    const heardMore = (): Promise<unknown> => {
      const before = listeners.map(({ received }) => received.length);
      const more = (): boolean =>
        listeners.every(({ received }, index) => received.length > (before[index] ?? 0) + MORE);
      return eventually(more, { deadlineMs: 60_000 });
    };
    try {
      await heardMore();
      await happen(heardMore);
      await heardMore();
    } finally {
      stop.abort();
    }
    const written = await writing;
    assert.deepEqual(await checkSystem(testSystem, listeners, beginning, written), []);
    return written;
  }

  async function dieAt({ reach, release }: Point): Promise<void> {
    const written = await underLoad(async () => {
      await reach();
      await Promise.all(REPLICAS.map((one) => testSystem.service('sync', one).kill('SIGKILL')));
      await release();
      await Promise.all(REPLICAS.map((one) => testSystem.service('sync', one).start()));
      await testSystem.untilReady();
    });
    assert.ok(written.retries > 0, 'nobody had to send anything again');
  }

  const title = (point: string): string =>
    `${point} loses, doubles and reorders nothing [never.actions-lost, never.acknowledged-lost, never.applied-twice]`;

  it(title('before it has the lock of the log'), () =>
    dieAt({
      reach: async () => {
        await hold(LOG_LOCK);
        await eventually(() => isWaitedFor(LOG_LOCK));
      },
      release: async () => void (await letGo(LOG_LOCK)),
    }),
  );

  it(title('after the insert, when the database goes on without it'), () =>
    dieAt({
      reach: async () => {
        await hold(INSERT_LOCK);
        await eventually(() => isWaitedFor(INSERT_LOCK));
      },
      release: async () => void (await letGo(INSERT_LOCK)),
    }),
  );

  it(title('after the insert, when the database gives up with it'), () =>
    dieAt({
      reach: async () => {
        await hold(INSERT_LOCK);
        await eventually(() => isWaitedFor(INSERT_LOCK));
      },
      release: async () => {
        await admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'wts_sync'`,
        );
        await letGo(INSERT_LOCK);
      },
    }),
  );

  it(title('after the commit, before it hears of it'), () =>
    dieAt({
      reach: async () => {
        await hold(INSERT_LOCK);
        await eventually(() => isWaitedFor(INSERT_LOCK));
        const before = await headOf();
        for (const wire of wires('postgres')) wire.deafen();
        await letGo(INSERT_LOCK);
        await eventually(async () => (await headOf()) > before);
      },
      release: async () => {
        for (const wire of wires('postgres')) wire.mend();
      },
    }),
  );

  it(title('after it has published, before it hears of it'), () =>
    dieAt({
      reach: async () => {
        const lastOf = async (): Promise<number> => (await endOfStream(testSystem.nats.url)).sequence;
        for (const wire of wires('nats')) wire.deafen();
        // The relay waits for an answer that does not come: changes are made, and none of them is published.
        let [place, head] = [await lastOf(), await headOf()];
        await eventually(async () => {
          const now = await lastOf();
          if (now !== place) [place, head] = [now, await headOf()];
          return (await headOf()) >= head + 20;
        });
      },
      release: async () => {
        for (const wire of wires('nats')) wire.mend();
      },
    }),
  );

  it('and sync that falls silent towards NATS goes on without it, and brings the stream up to the log afterwards [never.actions-lost]', async () => {
    await underLoad(async (heardMore) => {
      for (const wire of wires('nats')) wire.freeze();
      await heardMore();
      for (const wire of wires('nats')) wire.mend();
    });
    await eventually(async () => Number((await endOfStream(testSystem.nats.url)).place) === (await headOf()));
  });
});
