import { openWire, eventually, type Wire } from '@wts/testkit';
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { codesOf, personWith, TestGraph } from './test-graph.ts';

const TASKS = '{ tasks(first: 1) { nodes { id } } }';
const DEADLINE_MS = 400;

/** No statement can read tasks while the work runs, which gets the number of those of the service that wait. */
async function whileLocked(
  { database }: TestGraph,
  work: (waiting: () => Promise<number | undefined>) => Promise<void>,
): Promise<void> {
  const [locker, watcher] = [0, 1].map(() => new Client({ connectionString: database.url })) as [Client, Client];
  await Promise.all([locker.connect(), watcher.connect()]);
  try {
    await locker.query('begin; lock table sync.tasks in access exclusive mode');
    // Inside a transaction, pg_stat_activity would not change.
    await work(async () => (await watcher.query<{ count: number }>(WAITING)).rows[0]?.count);
  } finally {
    await Promise.all([locker.end(), watcher.end()]);
  }
}

const WAITING = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and application_name = 'wts-graph' and state = 'active' and wait_event_type = 'Lock'`;

describe('an operation that cannot go on', () => {
  let graph: TestGraph;
  /** With few connections, and without a deadline of its own. */
  let small: TestGraph;
  let admin: Client;
  /** Between the service and its database. */
  let wire: Wire;

  before(async () => {
    graph = await TestGraph.open('graph-failure', { OPERATION_TIMEOUT_MS: String(DEADLINE_MS) }, async (url) => {
      const { hostname, port } = new URL(url);
      wire = await openWire({ host: hostname, port: Number(port) });
      return wire.through(url);
    });
    small = await TestGraph.open('graph-small', { DATABASE_POOL_MAX: '4' });
    admin = new Client({ connectionString: graph.database.url });
    await admin.connect();
  });
  after(async () => {
    await admin.end();
    await small[Symbol.asyncDispose]();
    await graph[Symbol.asyncDispose]();
    await wire[Symbol.asyncDispose]();
  });

  it('ends at the deadline with a code, and its statement ends in PostgreSQL [graphql.limit.deadline]', async () => {
    await whileLocked(graph, async (waiting) => {
      // On a busy machine one may end before it waits, or before that is seen.
      await eventually(async () => {
        const answering = graph.query(TASKS);
        const hasWaited = await eventually(async () => (await waiting()) === 1, { deadlineMs: DEADLINE_MS }).catch(
          () => false,
        );
        const answer = await answering;
        assert.deepEqual([answer.status, codesOf(answer), answer.body.data], [200, ['DEADLINE_EXCEEDED'], null]);
        assert.match(answer.body.errors?.[0]?.message ?? '', /took longer than the allowed time/);
        await eventually(async () => (await waiting()) === 0);
        return hasWaited;
      });
    });
    assert.deepEqual(codesOf(await graph.query(TASKS)), []);
  });

  it('ends in PostgreSQL when its client disconnects or has its answer, and the waiting ones never begin [graphql.limit.deadline]', async () => {
    // Half of the connections may run long statements of one person, so the other field of the last query has a connection.
    const leaving = new AbortController();
    await whileLocked(small, async (waiting) => {
      const clients = Array.from({ length: 6 }, () => small.query(TASKS, { signal: leaving.signal }).catch(() => null));
      // As many as begin at once: others that come after the first ones have taken long may wait.
      await eventually(async () => ((await waiting()) ?? 0) >= 1);
      leaving.abort();
      await Promise.all(clients);
      await eventually(async () => (await waiting()) === 0);
      // The person does not exist, and without them there is no answer, whatever the tasks are.
      const answer = await small.query(`{ viewer { id } ${TASKS.slice(1)}`);
      assert.deepEqual([codesOf(answer), answer.body.data], [['NOT_FOUND'], null]);
      // Before the lock timeout of PostgreSQL would end it.
      await eventually(async () => (await waiting()) === 0, { deadlineMs: 3_000 });
    });
    assert.deepEqual(codesOf(await small.query(TASKS)), []);
  });

  it('takes no connection of other people, however many of one person wait [never.one-takes-all]', async () => {
    const leaving = new AbortController();
    const greedy = personWith('read');
    await whileLocked(small, async (waiting) => {
      const clients = Array.from({ length: 20 }, () =>
        small.query(TASKS, { principal: greedy, signal: leaving.signal }).catch(() => null),
      );
      await eventually(async () => ((await waiting()) ?? 0) >= 2);
      // The person does not exist: the answer is that of a statement.
      assert.deepEqual(codesOf(await small.query('{ viewer { id } }')), ['NOT_FOUND']);
      // Three when all begin at once, two when some come after the first ones have taken long.
      assert.ok(((await waiting()) ?? 4) <= 3);
      leaving.abort();
      await Promise.all(clients);
    });
  });

  it('is UNAVAILABLE with retry advice while PostgreSQL is gone, and works again after [graphql.errors.coded]', async () => {
    wire.cut();
    for (const document of [TASKS, '{ viewer { id } }']) {
      const answer = await graph.query(document, { principal: personWith('read') });
      assert.equal(answer.status, 200);
      const [error] = answer.body.errors ?? [];
      assert.equal(error?.extensions.code, 'UNAVAILABLE', answer.text);
      assert.equal(typeof error.extensions['retryAfterSeconds'], 'number');
      assert.doesNotMatch(answer.text, /ECONN|stack|node:|127\.0\.0\.1|select/i);
    }
    wire.mend();
    await eventually(async () => codesOf(await graph.query(TASKS)).length === 0);
  });

  it('shows nothing of a bug, which is in the log with the id of the request [graphql.errors.coded]', async () => {
    await admin.query('alter table sync.tasks rename column group_id to gone');
    graph.logs.length = 0;
    try {
      const answer = await graph.query(TASKS);
      const [error] = answer.body.errors ?? [];
      assert.deepEqual([answer.status, error?.extensions.code], [200, 'INTERNAL']);
      assert.doesNotMatch(answer.text, /of relation|records?\b|gone|select/i);
      const [line] = graph.logs.map((text) => JSON.parse(text) as Record<string, unknown>);
      assert.deepEqual([line?.['level'], line?.['requestId']], ['error', error?.extensions.requestId]);
      assert.match(JSON.stringify(line), /column/);
    } finally {
      await admin.query('alter table sync.tasks rename column gone to group_id');
    }
  });
});
