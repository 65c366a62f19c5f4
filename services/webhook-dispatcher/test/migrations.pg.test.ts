import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { testDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Pool } from 'pg';
import { makePartitions } from '../src/store/partitions.ts';

const directory = join(import.meta.dirname, '../src/migrations');
const log = createLogger({ name: 'test', level: 'warn' });

describe('the migrations', () => {
  it('run up, down and up again over data, with only the rights of the service', async () => {
    await using database = await testDatabase('migrations');
    const url = database.urlOf('wts_webhooks');
    const run = (direction: 'up' | 'down'): Promise<string[]> =>
      migrate({ url, directory, schema: 'webhooks', log, direction });
    const made = await run('up');
    assert.ok(made.length > 0);
    await using stack = new AsyncDisposableStack();
    const pool = stack.adopt(new Pool({ connectionString: url }), (open) => open.end());
    await pool.query(`with endpoint as (
        insert into webhooks.endpoints (id, workspace_id, url, description, event_types, since_position, created_by)
        values (gen_random_uuid(), gen_random_uuid(), 'https://example.com', '', '{}', 0, gen_random_uuid()) returning id
      )
      insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
      select gen_random_uuid(), id, gen_random_uuid(), now(), 'task.created', 1, now() from endpoint`);
    await makePartitions(pool);
    await pool.query(`insert into webhooks.lanes (endpoint_id) select id from webhooks.endpoints`);
    await pool.query(`insert into webhooks.workspaces (workspace_id, owner_id, position)
      select workspace_id, created_by, 0 from webhooks.endpoints`);
    await pool.query(`insert into webhooks.replicas (holder, leased_until) values (gen_random_uuid(), now())`);
    await pool.query(`insert into webhooks.parked_entries (position, reason, entry) values (1, 'none', '{}')`);
    assert.deepEqual(await run('down'), made.toReversed());
    const { rows } = await pool.query(`select tablename from pg_tables where schemaname = 'webhooks'
      and tablename not like 'migrations%'`);
    assert.deepEqual(rows, []);
    assert.deepEqual(await run('up'), made);
    assert.deepEqual(await run('up'), []);
  });
});
