import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { LogReader } from '@wts/log';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { quiet } from '../../test/replica.ts';
import { maintainLogOnce } from '../log-maintenance.ts';
import { listPartitions } from './partitions.ts';

/** What a promotion does to it: `failover.pg.test.ts`. */
describe('the epoch of the log', () => {
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  let log: LogReader;
  const workspace = randomUUID();

  beforeEach(async () => {
    database = await testDatabase('epoch', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    writer = new LogWriter(pool);
    log = new LogReader(pool);
    await keep();
    await writer.join(randomUUID(), workspace);
  });
  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  const keep = (): Promise<unknown> =>
    maintainLogOnce({ pool, log, retention: { ageMs: 86_400_000, youngestMs: 86_400_000 }, logger: quiet });

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
