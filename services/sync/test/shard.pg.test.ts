import { shardCheck } from '@wts/read-model';
import assert from 'node:assert/strict';
import { TestSyncService } from './test-sync-service.ts';

describe('the number of the log', () => {
  it('is that of the first start: a service with another one does not start and says why, until the log is given the number [cells.shard]', async () => {
    await using sync = await TestSyncService.open('shard', { SHARD: '3' });
    const start = (shard: number): Promise<void> => sync.restart(async () => ({ SHARD: String(shard) }));
    await start(4);
    await sync.person();
    const refusal = /^SetupError: SHARD is 3, and the database at DATABASE_URL has log 4\. Set SHARD=4, or/;
    await assert.rejects(start(3), refusal);
    assert.match(String(await shardCheck(3)(sync.sql)), /^SHARD is 3/);
    assert.equal(await shardCheck(4)(sync.sql), null);
    await sync.sql.query('update sync.log_state set shard = 3');
    await start(3);
  });

  it('is taken over from a database of a version before', async () => {
    await using sync = await TestSyncService.open('unnumbered');
    await sync.person();
    await sync.restart(async () => {
      await sync.sql.query('update sync.log_state set shard = null');
      assert.equal(await shardCheck(7)(sync.sql), null);
      return { SHARD: '7' };
    });
    assert.deepEqual((await sync.sql.query('select shard from sync.log_state')).rows, [{ shard: 7 }]);
  });
});
