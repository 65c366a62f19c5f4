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
    const url = database.urlOf('wts_auth');
    const run = (direction: 'up' | 'down'): Promise<string[]> =>
      migrate({ url, directory, schema: 'auth', log, direction });
    const made = await run('up');
    await using stack = new AsyncDisposableStack();
    const client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
    await client.connect();
    await client.query(`insert into auth.clients (id, redirect_uris, auth_method, grant_types)
      values ('a', '{}', 'none', '{}')`);
    await client.query(`insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, expires_at)
      values ('018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21', gen_random_uuid(), 'a', '{}', '{}', now(), now())`);
    for (const table of [
      'codes (hash, grant_id, expires_at, redirect_uri, challenge)',
      'refresh_tokens (hash, grant_id, expires_at)',
    ]) {
      const more = table.startsWith('codes') ? `, 'https://a.example', 'b'` : '';
      await client.query(
        `insert into auth.${table} values (sha256('a'), '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21', now()${more})`,
      );
    }
    await client.query(`insert into auth.signing_keys (id, public_jwk, private_key, sealed_with, signs_from)
      values ('a', '{}', 'a', 'b', now())`);
    assert.deepEqual(await run('down'), made.toReversed());
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'auth'
      and tablename not like 'migrations%'`);
    assert.deepEqual(rows, []);
    assert.deepEqual(await run('up'), made);
  });
});
