import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LogReader } from '@wts/log';
import { eventually, openTestPostgres, socketOf, testDatabase, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { openTestReplica, quiet } from '../../test/replica.ts';
import { maintainLogOnce } from '../log-maintenance.ts';
import { listPartitions } from './partitions.ts';

const run = promisify(execFile);

describe('the epoch of the log', () => {
  let stack: AsyncDisposableStack;
  let server: Awaited<ReturnType<typeof openTestPostgres>>;
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  let log: LogReader;
  const workspace = randomUUID();
  const user = randomUUID();

  before(async () => (server = await openTestPostgres('promotion')));
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    database = await testDatabase('promotion', { migrated: true, adminUrl: server.url() });
    pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync') }), (one) => one.end());
    pool.on('error', () => {});
    writer = new LogWriter(pool);
    log = new LogReader(pool);
    await keep();
    await writer.join(user, workspace);
  });
  afterEach(() => stack.disposeAsync());

  const keep = (): Promise<unknown> =>
    maintainLogOnce({ pool, log, retention: { ageMs: 86_400_000, youngestMs: 86_400_000 }, logger: quiet });

  async function dataDirectory(): Promise<string> {
    const admin = new Pool({ connectionString: server.url(), max: 1 });
    admin.on('error', () => {});
    try {
      const { rows } = await admin.query<{ data_directory: string }>('show data_directory');
      return rows[0]!.data_directory;
    } finally {
      await admin.end();
    }
  }

  /** Kills the primary and promotes a standby that has received the log up to `upTo`. */
  async function promoteStandby(lost: () => Promise<void>): Promise<void> {
    const data = await dataDirectory();
    await server.stop();
    await run('cp', ['-a', data, `${data}.standby`]);
    await server.start();
    await eventually(() => log.head());
    await lost();
    await server.kill();
    await run('rm', ['-rf', data]);
    await run('mv', [`${data}.standby`, data]);
    writeFileSync(join(data, 'standby.signal'), '', { mode: 0o644 });
    await server.start();
    const admin = new Pool({ connectionString: server.url(), max: 1 });
    await eventually(() => admin.query('select pg_promote()'));
    await admin.end();
    await eventually(async () => !(await pool.query<{ is: boolean }>('select pg_is_in_recovery() as is')).rows[0]?.is);
  }

  it('stays the same until a promotion, also when the database restarts', async () => {
    const { epoch } = await log.head();
    await keep();
    await server.kill();
    await server.start();
    await eventually(async () => (await keep(), true));
    await writer.append([{ groupId: workspace }]);
    assert.equal((await log.head()).epoch, epoch);
  });

  it('changes when a standby without the last entries is promoted, and no cursor continues from a lost position [sync.log.epoch]', async () => {
    const replica = stack.use(await openTestReplica({ pool, writer }));
    const socket = stack.use(await socketOf(replica, { token: user, after: '0' }));
    const before = await writer.append([{ groupId: workspace }]);
    // A socket that still reads the log when the database stops would be closed.
    await socket.untilAction(({ syncId }) => syncId === before.last);
    let lost = '';
    await promoteStandby(async () => {
      lost = (await writer.append([{ groupId: workspace }, { groupId: workspace }])).last;
      await socket.untilAction(({ syncId }) => syncId === lost);
    });
    // The next commit is of the new epoch, without maintenance before it.
    const next = await writer.append([{ groupId: workspace }]);
    assert.notEqual(next.epoch, before.epoch);
    assert.ok(BigInt(next.first) > BigInt(lost), `${next.first} was a place before`);

    await socket.until(({ frames }) => frames.some((frame) => frame['code'] === 'BOOTSTRAP_REQUIRED'));
    const { floor, head, epoch } = await log.head();
    assert.ok(floor > BigInt(lost) && BigInt(next.prev) === floor);
    assert.deepEqual({ head: String(head), epoch }, { head: next.last, epoch: next.epoch });
    socket.send({ type: 'subscribe', afterSyncId: lost, token: user });
    await socket.until(({ frames }) => frames.filter((frame) => frame['code'] === 'BOOTSTRAP_REQUIRED').length === 2);
    socket.send({ type: 'subscribe', afterSyncId: String(floor), token: user });
    await socket.untilAction(({ syncId }) => syncId === next.last);
    assert.deepEqual(
      socket.actions.slice(-1).map(({ syncId }) => syncId),
      [next.last],
    );
  });

  it('changes without a commit by the next maintenance, and only once', async () => {
    const { epoch } = await log.head();
    await promoteStandby(async () => {});
    // Two that make the same partition at once fail, and are run again, as in the service.
    await Promise.all([1, 2, 3].map(() => eventually(async () => (await keep(), true))));
    const now = await log.head();
    assert.notEqual(now.epoch, epoch);
    assert.equal(now.head, now.floor, 'a client that loads now can go on');
    await keep();
    assert.equal((await log.head()).epoch, now.epoch);
  });

  it('can be begun by hand, for a database that does not show its timeline', async () => {
    const { epoch, head } = await log.head();
    await pool.query('select sync.begin_epoch()');
    const now = await log.head();
    assert.notEqual(now.epoch, epoch);
    assert.ok(now.floor > head);
    const { first } = await writer.append([{ groupId: workspace }]);
    assert.equal(BigInt(first), now.floor + 1n, 'without maintenance before it');
    await keep();
    const partitions = await listPartitions(pool);
    assert.ok(partitions.every(({ from, to }) => to - from === 1_000_000n));
  });

  it('changes when a dump is restored into the same server, above all positions of before [sync.log.epoch]', async () => {
    const { epoch } = await log.head();
    await pool.query(`update sync.log_state set lineage = regexp_replace(lineage, '/[^/]*$', '')`);
    const { last: kept } = await writer.append([{ groupId: workspace }]);
    assert.equal(
      (await log.head()).epoch,
      epoch,
      'not where the migration that records the id of the table has yet to run',
    );
    await pool.query(`update sync.log_state set lineage = sync.log_lineage()`);
    // What a dump does: each table is made again, with its rows, and what came after it is gone.
    await pool.query(`create table sync.restored (like sync.log_state including all);
      insert into sync.restored select * from sync.log_state; drop table sync.log_state;
      alter table sync.restored rename to log_state`);
    const { first, prev } = await writer.append([{ groupId: workspace }]);
    const now = await log.head();
    assert.notEqual(now.epoch, epoch);
    assert.ok(BigInt(prev) > BigInt(kept) + 1_000_000_000n && BigInt(first) > BigInt(prev));
    await keep();
    assert.equal((await log.head()).epoch, now.epoch);
  });
});
