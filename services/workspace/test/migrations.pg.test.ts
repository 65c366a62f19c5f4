import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { migrationsBefore, testDatabase, type TestDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

const log = createLogger({ name: 'test', level: 'silent' });

describe('the migrations', () => {
  const folderOf = (schema: 'workspace' | 'auth'): string =>
    join(import.meta.dirname, `../../${schema}/src/migrations`);
  /** With only the rights of the service. */
  const run = (
    database: TestDatabase,
    schema: 'workspace' | 'auth' = 'workspace',
    direction: 'up' | 'down' = 'up',
    directory: string = folderOf(schema),
  ): Promise<string[]> => migrate({ url: database.urlOf(`wts_${schema}`), directory, schema, log, direction });

  it('run up, down and up again over data, with only the rights of the service', async () => {
    await using database = await testDatabase('migrations');
    await run(database, 'auth');
    const made = await run(database);
    assert.ok(made.length > 0);
    await using stack = new AsyncDisposableStack();
    const url = database.urlOf('wts_workspace');
    const client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
    await client.connect();
    await client.query(`insert into workspace.invitations (id, workspace_id, role, code_hash, created_by, expires_at)
      values (gen_random_uuid(), gen_random_uuid(), 'guest', sha256('a'), gen_random_uuid(), now())`);
    await client.query(`insert into workspace.idempotency_keys (key_hash, owner, fingerprint, expires_at)
      values (sha256('a'), 'a', sha256('b'), now())`);
    await client.query(`insert into workspace.wrong_codes values (gen_random_uuid(), 1, now())`);
    assert.deepEqual(await run(database, 'workspace', 'down'), made.toReversed());
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'workspace'
      and tablename not like 'migrations%'`);
    assert.deepEqual(rows, []);
    assert.deepEqual(await run(database), made);
    assert.deepEqual(await run(database), []);
  });

  it('drop no identities and keys before the migrations of the auth service have copied them', async () => {
    await using database = await testDatabase('migrations', { authDatabase: false });
    await using stack = new AsyncDisposableStack();
    const admin = stack.adopt(new Client({ connectionString: database.url }), (open) => open.end());
    await admin.connect();
    await run(database, 'workspace', 'up', migrationsBefore(folderOf('workspace'), '0008'));
    await admin.query(`insert into workspace.identities (identity_hash, issuer, subject, user_id)
      values (sha256('a'), 'a', 'b', gen_random_uuid())`);
    await assert.rejects(run(database), /run the migrations of the auth service first/);
    await admin.query(await readFile(join(import.meta.dirname, '../../../infra/postgres/roles.sql'), 'utf8'));
    await run(database, 'auth');
    assert.ok((await run(database)).includes('0008-move-identities-to-auth'));
  });

  it('need no tables of the auth service in a new installation, where they may be in another database', async () => {
    await using database = await testDatabase('migrations');
    assert.ok((await run(database)).includes('0008-move-identities-to-auth'));
  });
});
