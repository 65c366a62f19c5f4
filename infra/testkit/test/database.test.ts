import { deepEqual, equal, rejects } from 'node:assert/strict';
import { connectTo, testDatabase } from '../src/index.ts';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  await using client = await connectTo(url);
  return (await client.query<Record<string, unknown>>(sql)).rows;
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

  it('lets no role but that of sync take the lock of the log, in any mode that a commit waits for [never.locks]', async () => {
    await using database = await testDatabase('locks', { migrated: true, authDatabase: false });
    const MODES = ['row share', 'row exclusive', 'share update exclusive', 'share', 'share row exclusive', 'exclusive'];
    for (const role of ['wts_workspace', 'wts_auth', 'wts_webhooks', 'wts_graph'] as const) {
      for (const mode of [...MODES, 'access exclusive']) {
        const sql = `begin; lock table sync.log_lock in ${mode} mode; rollback`;
        await rejects(query(database.urlOf(role), sql), { code: '42501' }, `${role} locks in ${mode} mode`);
      }
      await rejects(query(database.urlOf(role), 'select from sync.log_lock for share'), { code: '42501' });
      await rejects(query(database.urlOf(role), 'select sync.begin_epoch()'), { code: '42501' });
    }
    // The mode that a reader may take excludes none that sync takes.
    await using reader = await connectTo(database.urlOf('wts_graph'));
    await reader.query('begin; lock table sync.log_lock in access share mode; select from sync.log_lock');
    await query(
      database.urlOf('wts_sync'),
      `begin; set local lock_timeout = '1s'; lock table sync.log_lock in share update exclusive mode; commit`,
    );
  });

  it('lets the role that only reads take no advisory lock, and no role store large objects [never.locks]', async () => {
    await using database = await testDatabase('objects');
    const LOCKS = ['pg_advisory_lock(1)', 'pg_try_advisory_lock(1, 2)', 'pg_advisory_xact_lock_shared(1)'];
    for (const call of LOCKS) {
      await rejects(query(database.urlOf('wts_graph'), `select ${call}`), { code: '42501' }, call);
      await query(database.urlOf('wts_sync'), `select ${call}`);
    }
    const OBJECTS = [
      `lo_create(0)`,
      `lo_creat(-1)`,
      `lo_from_bytea(0, 'x')`,
      `lo_put(1, 0, 'x')`,
      `lo_unlink(1)`,
      `lowrite(0, 'x')`,
    ];
    for (const role of ['wts_sync', 'wts_workspace', 'wts_auth', 'wts_webhooks', 'wts_graph'] as const) {
      for (const call of [...OBJECTS, `lo_import('/etc/passwd')`, `lo_export(1, '/tmp/x')`])
        await rejects(query(database.urlOf(role), `select ${call}`), { code: '42501' }, `${role}: ${call}`);
    }
  });

  it('gives auth a database of its own, in which nothing else is', async () => {
    await using database = await testDatabase('apart', { authDatabase: true });
    const schemas = `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1`;
    deepEqual(await query(database.authUrl, schemas), [{ name: 'auth' }, { name: 'public' }]);
    deepEqual(
      (await query(database.url, schemas)).map(({ name }) => name),
      ['public', 'sync', 'webhooks', 'workspace'],
    );
    await query(database.urlOf('wts_auth'), 'CREATE TABLE secrets (id int)');
    const { pathname } = new URL(database.authUrl);
    const url = Object.assign(new URL(database.urlOf('wts_workspace')), { pathname }).href;
    await rejects(query(url, 'SELECT id FROM auth.secrets'), { code: '42501' });
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
