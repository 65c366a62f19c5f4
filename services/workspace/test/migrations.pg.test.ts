import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { testDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from 'pg';

const directory = join(import.meta.dirname, '../src/migrations');
const log = createLogger({ name: 'test', level: 'warn' });

describe('the migrations', () => {
  it('run up, down and up again over data, with only the rights of the service', async () => {
    await using database = await testDatabase('migrations');
    const url = database.urlOf('wts_workspace');
    const run = (direction: 'up' | 'down'): Promise<string[]> =>
      migrate({ url, directory, schema: 'workspace', log, direction });
    const made = await run('up');
    assert.ok(made.length > 0);
    await using stack = new AsyncDisposableStack();
    const client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
    await client.connect();
    await client.query(`insert into workspace.identities (identity_hash, issuer, subject, user_id)
      values (sha256('a'), 'a', 'b', gen_random_uuid())`);
    await client.query(`insert into workspace.api_keys (id, user_id, label, key_prefix, token_hash, permissions)
      values (gen_random_uuid(), gen_random_uuid(), 'a', 'wts_', sha256('a'), 'read-only')`);
    await client.query(`insert into workspace.invitations (id, workspace_id, role, code_hash, created_by, expires_at)
      values (gen_random_uuid(), gen_random_uuid(), 'guest', sha256('a'), gen_random_uuid(), now())`);
    await client.query(`insert into workspace.idempotency_keys (key_hash, owner, fingerprint, expires_at)
      values (sha256('a'), 'a', sha256('b'), now())`);
    assert.deepEqual(await run('down'), made.toReversed());
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'workspace'
      and tablename not like 'migrations%'`);
    assert.deepEqual(rows, []);
    assert.deepEqual(await run('up'), made);
    assert.deepEqual(await run('up'), []);
  });
});
