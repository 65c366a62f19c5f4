import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { TestEngines, applied, change, only, type TestPerson } from '../../test/test-engines.ts';
import { deleteOldIdempotencyKeys } from '../store/idempotency-keys.ts';
import { scanTrash, SCAN_START } from '../store/trash.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('a replica whose clock is a year behind', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() - 365 * DAY_MS });
    ({ engines, owner, workspace } = await TestEngines.withOwner('commit_clock', 1));
  });
  after(async () => {
    mock.timers.reset();
    await engines[Symbol.asyncDispose]();
  });

  it('archives tasks for as long as any other [trash.purge]', async () => {
    const id = await owner.make('Task', { workspaceId: workspace, title: 'T' });
    applied(await owner.try('ARCHIVE', 'Task', id));
    assert.deepEqual(await scanTrash(engines.checks, { days: 1, after: SCAN_START, limit: 10 }), []);
  });

  it('applies no change twice that is sent again [sync.mutate.idempotent]', async () => {
    const id = await owner.make('Task', { workspaceId: workspace, title: 'T' });
    const rename = owner.unit(change('UPDATE', 'Task', id, { title: 'First' }), { clientTxId: randomUUID() });
    const { syncId } = only(await engines.send(rename));
    await owner.change('Task', id, { title: 'Second' });
    await deleteOldIdempotencyKeys(engines.checks);
    assert.equal(only(await engines.send(rename)).syncId, syncId);
    assert.equal((await engines.stored('Task', id))?.record['title'], 'Second');
  });

  it('appends entries with the time of PostgreSQL, by which the log is trimmed [sync.log.retention]', async () => {
    const { rows } = await engines.checks.query<{ old: number }>(
      `select count(*)::int as old from sync.sync_actions where created_at < now() - interval '1 day'`,
    );
    assert.equal(rows[0]?.old, 0);
  });
});
