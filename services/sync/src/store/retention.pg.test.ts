import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Fault } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { eventually, socketOf, testDatabase, type LiveSocket, type TestDatabase } from '@wts/testkit';
import { Pool, type PoolClient } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { openTestReplica, quiet, testContext } from '../../test/replica.ts';
import { deltasSources, readDeltas } from '../deltas/read-deltas.ts';
import { maintainLog, maintainLogOnce, type LogMaintenanceOptions } from '../log-maintenance.ts';
import { listPartitions, makePartitions } from './partitions.ts';

const DAY_MS = 86_400_000;

describe('the retention of the log', () => {
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  let log: LogReader;
  const workspace = randomUUID();
  const user = randomUUID();

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    database = stack.use(await testDatabase('retention', { migrated: true }));
    pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync') }), (one) => one.end());
    writer = new LogWriter(pool);
    log = new LogReader(pool);
    // It is replaced by partitions of ten positions each.
    await pool.query('drop table sync.sync_actions_0');
    await gaps(0);
    await keep({ ageMs: DAY_MS, youngestMs: DAY_MS });
    await writer.join(user, workspace);
  });
  afterEach(() => stack.disposeAsync());

  const gaps = (most: number) => pool.query('update sync.log_state set gap_max = $1', [most]);
  const everything = { ageMs: 0, youngestMs: 0 };
  const options = (retention: LogMaintenanceOptions['retention'], floorAgeMsMin: number): LogMaintenanceOptions => ({
    pool,
    log,
    retention,
    partitionEntries: 10,
    floorAgeMsMin,
    logger: quiet,
  });
  const keep = (retention: LogMaintenanceOptions['retention'] = everything, floorAgeMsMin = 0): Promise<unknown> =>
    maintainLogOnce(options(retention, floorAgeMsMin));
  async function writeUpTo(place: number): Promise<void> {
    for (let { head } = await log.head(); head < place; head += 1n) {
      await keep({ ageMs: DAY_MS, youngestMs: DAY_MS });
      const count = Math.min(place - Number(head), 10);
      await writer.append(Array.from({ length: count }, () => ({ groupId: workspace })));
      head += BigInt(count - 1);
    }
  }
  const places = async (): Promise<number[]> =>
    (await pool.query<{ at: number }>('select sync_id::int as at from sync.sync_actions order by sync_id')).rows.map(
      ({ at }) => at,
    );
  const floor = async (): Promise<bigint> => (await log.head()).floor;
  async function page(after: bigint, limit = 1000) {
    const question = { userId: user, after, limit, requested: new Set<string>(), spelling: 'words' } as const;
    const text = await readDeltas(deltasSources(pool, null), question);
    return JSON.parse(text) as { lastSyncId: string; hasMore: boolean; actions: { syncId: string }[] };
  }
  /** A transaction that reads the log until it is ended. */
  async function readTheLog(): Promise<PoolClient> {
    const client = await pool.connect();
    await client.query('begin isolation level repeatable read');
    await client.query('select max(sync_id) from sync.sync_actions');
    return client;
  }
  const isBootstrap = (error: unknown): boolean => error instanceof Fault && error.code === 'bootstrap_required';

  it('drops whole partitions, oldest first, and never the last entry: positions continue from it [sync.log.retention, never.unbounded]', async () => {
    await writeUpTo(39);
    await keep();
    assert.equal(await floor(), 29n);
    assert.equal((await places()).length, 39, 'the floor moves before anything goes');
    await keep();
    assert.deepEqual(await places(), [30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
    await writer.append([{ groupId: workspace }]);
    await keep();
    await keep();
    assert.deepEqual(await places(), [40]);
    const { first } = await writer.append([{ groupId: workspace }]);
    assert.equal(first, '41');
  });

  it('keeps young entries, and those that few entries follow', async () => {
    await writeUpTo(45);
    await keep({ ageMs: DAY_MS, youngestMs: 0 });
    assert.equal(await floor(), 0n);
    await keep({ ageMs: DAY_MS, entries: 20, youngestMs: DAY_MS });
    assert.equal(await floor(), 0n);
    await keep({ ageMs: DAY_MS, entries: 20, youngestMs: 0 });
    assert.equal(await floor(), 19n);
  });

  it('counts entries and not positions, and has a partition for every commit, where positions have gaps', async () => {
    await makePartitions(pool, (await log.head()).head, 1_000n);
    await gaps(500);
    const written: bigint[] = [];
    for (let commit = 0; commit < 30; commit += 1) {
      written.push(BigInt((await writer.append([{ groupId: workspace }])).last));
      await keep({ ageMs: DAY_MS, youngestMs: DAY_MS });
    }
    await keep({ ageMs: DAY_MS, entries: 8, youngestMs: 0 });
    const after = await floor();
    const following = written.filter((position) => position > after).length;
    assert.ok(following >= 8 && following <= 23, `${following} entries follow the floor`);
  });

  it('waits between raising a floor and dropping the entries below it', async () => {
    await writeUpTo(25);
    await keep(everything, 30_000);
    await keep(everything, 30_000);
    assert.equal((await places())[0], 1);
  });

  it('adds partitions of another size after the existing ones', async () => {
    await maintainLogOnce({ ...options(everything, 30_000), partitionEntries: 100 });
    const bounds = (await listPartitions(pool)).map(({ from, to }) => [Number(from), Number(to)]);
    assert.deepEqual(bounds.slice(-3), [
      [40, 140],
      [140, 240],
      [240, 340],
    ]);
    for (const [index, [from]] of bounds.entries()) if (index > 0) assert.equal(from, bounds[index - 1]?.[1]);
  });

  it('gives pollers no page with a hole while the log is written and trimmed', async () => {
    let signals = 0;
    const pollers = [2, 3, 5, 8].map((limit) => {
      let cursor = 2n;
      return async (): Promise<void> => {
        try {
          const { actions, lastSyncId } = await page(cursor, limit);
          // From the third entry on all are in the group of the workspace.
          const expected = Array.from({ length: actions.length }, (_, index) => String(cursor + BigInt(index) + 1n));
          assert.deepEqual(
            actions.map(({ syncId }) => syncId),
            expected,
          );
          cursor = BigInt(lastSyncId);
        } catch (error) {
          if (!isBootstrap(error)) throw error;
          signals += 1;
          ({ floor: cursor } = await log.head());
        }
      };
    });
    for (let round = 0; round < 12; round += 1) {
      await writer.append(Array.from({ length: 8 }, () => ({ groupId: workspace })));
      await Promise.all([keep(), ...pollers.map((poll) => poll())]);
    }
    assert.ok(signals > 0, 'no cursor fell below the floor');
  });

  it('sends a socket that was slow while the log was trimmed to a bootstrap, after entries without a gap', async () => {
    const limits = { unsentBytesMax: 100_000, stalledMs: 600_000 };
    const replica = stack.use(await openTestReplica({ pool, writer, limits, ring: { bytesMax: 1, ageMs: 1 } }));
    const socket: LiveSocket = stack.use(await socketOf(replica, { token: user, after: '2' }));
    socket.pause();
    await makePartitions(pool, 2n, 100n);
    for (let round = 0; round < 30; round += 1) {
      await writer.append(
        Array.from({ length: 10 }, () => ({ groupId: workspace, data: { text: 'x'.repeat(30_000) } })),
      );
    }
    await keep();
    await keep();
    socket.resume();
    await socket.until(({ frames }) => frames.some((frame) => frame['code'] === 'BOOTSTRAP_REQUIRED'));
    const ids = socket.actions.map(({ syncId }) => Number(syncId));
    assert.deepEqual(
      ids,
      Array.from({ length: ids.length }, (_, index) => index + 3),
    );
    assert.ok(ids.length < 237, 'it was not behind');
    socket.send({ type: 'subscribe', afterSyncId: String(await floor()), token: user });
    await socket.untilAction(({ syncId }) => syncId === writer.committed.at(-1)!.syncId, 20_000);
  });

  it('sends all sockets to a bootstrap when a replica was suspended for longer than the retention', async () => {
    // It is not notified, so it reads the log only from time to time.
    const replica = stack.use(await openTestReplica({ pool, pollMs: 1_500 }));
    const socket = stack.use(await socketOf(replica, { token: user, after: String(replica.hub.last) }));
    const { last } = await writer.append(Array.from({ length: 10 }, () => ({ groupId: workspace })));
    await pool.query('update sync.log_state set floor = $1', [Number(last) - 1]);
    await socket.until(({ frames }) => frames.some((frame) => frame['code'] === 'BOOTSTRAP_REQUIRED'));
    assert.equal(socket.actions.length, 0);
    assert.equal(replica.hub.last, BigInt(last));
  });

  it('blocks neither writers nor readers, however long a transaction reads the log, and waits for it longer than other statements wait', async () => {
    await writeUpTo(35);
    await keep();
    const long = await readTheLog();
    const settings = { connectionString: database.urlOf('wts_sync'), query_timeout: 300 };
    const impatient = stack.adopt(new Pool(settings), (one) => one.end());
    const dropping = maintainLogOnce({ ...options(everything, 0), pool: impatient });
    await eventually(async () => (await listPartitions(pool)).some(({ isDetaching }) => isDetaching));
    await writer.append([{ groupId: workspace }]);
    assert.equal((await page(29n)).actions.length, 7);
    const seen = await long.query<{ n: string }>('select count(*)::text as n from sync.sync_actions');
    assert.equal(seen.rows[0]?.n, '35', 'an old snapshot keeps what it began with');
    await Promise.race([dropping, long.query('select pg_sleep(0.6)')]);
    await long.query('commit');
    long.release();
    await dropping;
    assert.equal((await places())[0], 30);
  });

  it('lets a service stop immediately while a partition that is dropped is still read, and the next round drops it', async () => {
    await writeUpTo(35);
    await keep();
    const long = await readTheLog();
    const keeping = maintainLog(testContext(), {
      ...options(everything, 0),
      databaseUrl: database.urlOf('wts_sync'),
      everyMs: 10,
    });
    await eventually(async () => (await listPartitions(pool)).some(({ isDetaching }) => isDetaching));
    // The transaction keeps reading until this has resolved.
    await keeping[Symbol.asyncDispose]();
    await long.query('commit');
    long.release();
    await eventually(async () => {
      await keep().catch(() => undefined);
      return (await places())[0] === 30;
    });
  });

  it('finishes a DETACH that was interrupted, and drops detached partitions', async () => {
    await writeUpTo(35);
    await keep();
    const long = await readTheLog();
    const names = (await listPartitions(pool)).map(({ name }) => name);
    const breaking = await pool.connect();
    await breaking.query('set statement_timeout = 200');
    await assert.rejects(
      breaking.query(`alter table sync.sync_actions detach partition sync.${names[0]} concurrently`),
    );
    breaking.release(true);
    await long.query('commit');
    long.release();
    await keep();
    await pool.query(`create table sync.sync_actions_from_7000 (like sync.sync_actions)`);
    await keep();
    assert.equal((await places())[0], 30);
    const { rows } = await pool.query(`select relname from pg_class where relname = 'sync_actions_from_7000'`);
    assert.deepEqual(rows, []);
  });

  it('is kept by one of several replicas at a time', async () => {
    await writeUpTo(55);
    const failures: unknown[] = [];
    await using replicas = new AsyncDisposableStack();
    for (let count = 0; count < 3; count += 1) {
      const databaseUrl = database.urlOf('wts_sync');
      const context = { ...testContext(), log: { ...quiet, warn: (failure: unknown) => void failures.push(failure) } };
      replicas.use(maintainLog(context, { ...options(everything, 0), databaseUrl, everyMs: 10 }));
    }
    await eventually(async () => (await places())[0] === 50);
    assert.equal(await floor(), 49n);
    assert.deepEqual(failures, []);
  });
});
