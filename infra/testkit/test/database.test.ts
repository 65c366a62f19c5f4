import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Client } from 'pg';
import { testDatabase } from '../src/index.ts';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('testDatabase', () => {
  it('gives each service its own schema, in which only that service may write', async () => {
    await using database = await testDatabase('rights');
    await query(database.urlOf('wts_sync'), 'CREATE TABLE things (id int); INSERT INTO things VALUES (1)');
    deepEqual(await query(database.url, `SELECT schemaname FROM pg_tables WHERE tablename = 'things'`), [
      { schemaname: 'sync' },
    ]);
    deepEqual(await query(database.urlOf('wts_workspace'), 'SELECT id FROM sync.things'), [{ id: 1 }]);
    deepEqual(await query(database.urlOf('wts_graph'), 'SELECT id FROM things'), [{ id: 1 }]);
    for (const role of ['wts_workspace', 'wts_graph'] as const) {
      await rejects(query(database.urlOf(role), 'INSERT INTO sync.things VALUES (2)'), { code: '42501' });
      await rejects(query(database.urlOf(role), 'CREATE TABLE sync.more (id int)'), { code: '42501' });
      await rejects(query(database.urlOf(role), 'CREATE TABLE public.more (id int)'), { code: '42501' });
    }
    await query(database.urlOf('wts_workspace'), 'CREATE TABLE workspace.secrets (id int)');
    await rejects(query(database.urlOf('wts_sync'), 'SELECT id FROM workspace.secrets'), { code: '42501' });
  });

  it('separates two databases that are created at the same time', async () => {
    const [one, two] = await Promise.all([testDatabase('same'), testDatabase('same')]);
    await query(one.urlOf('wts_sync'), 'CREATE TABLE only_here (id int)');
    deepEqual(await query(two.url, `SELECT tablename FROM pg_tables WHERE tablename = 'only_here'`), []);
    await Promise.all([one.drop(), two.drop()]);
    // A server that ends with the run keeps the files, and refuses connections.
    await rejects(query(one.url, 'SELECT 1'), ({ code }: { code?: string }) => code === '3D000' || code === '55000');
  });

  it('keeps the durability settings of production', async () => {
    await using database = await testDatabase('durable');
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      deepEqual(await query(database.url, `SELECT setting FROM pg_settings WHERE name = '${name}'`), [
        { setting: 'on' },
      ]);
    }
  });

  it('refuses a role without its password', async () => {
    await using database = await testDatabase('password');
    const url = new URL(database.urlOf('wts_sync'));
    url.password = 'guess';
    await rejects(query(url.href, 'SELECT 1'), { code: '28P01' });
    equal(new URL(database.urlOf('wts_sync')).password.length > 30, true);
  });
});
