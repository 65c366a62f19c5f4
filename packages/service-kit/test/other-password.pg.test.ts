import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import { Client } from 'pg';
import { createLogger } from '../src/observe/index.ts';
import { tryLease } from '../src/postgres/lease.ts';
import { openPostgres, setOtherPassword } from '../src/postgres/index.ts';

const log = createLogger({ name: 'demo', level: 'silent' });
const ROLE = `wts_test_${randomBytes(5).toString('hex')}`;

describe('the password of a role of PostgreSQL', () => {
  let database: TestDatabase;
  let admin: Client;
  before(async () => {
    database = await testDatabase('passwords');
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`create role ${ROLE} login password 'old'`);
    await admin.query(`grant execute on function pg_try_advisory_lock(bigint) to ${ROLE}`);
  });
  after(async () => {
    await admin.query(`drop owned by ${ROLE}; drop role ${ROLE}`);
    await admin.end();
    await database.drop();
  });
  const urlWith = (password: string): string => {
    const url = new URL(database.url);
    url.username = ROLE;
    url.password = password;
    return url.href;
  };
  const lease = async (url: string): Promise<boolean> => {
    await using held = await tryLease({ url, key: 7_368_099, name: 'test', logger: log });
    return held !== null;
  };

  it('changes while connections are made all the time, and none fails: of a pool, of its queries and of leases [secrets.database]', async () => {
    await using stack = new AsyncDisposableStack();
    const url = urlWith('old');
    setOtherPassword([url], 'new :/@?');
    const { pool } = openPostgres({ url, poolMax: 3, applicationName: 'test', log, stack });
    let isOver = false;
    let connections = 0;
    const connect = async (): Promise<void> => {
      while (!isOver) {
        const client = await pool.connect();
        await client.query('select 1');
        // Not used again, so that the next one is new.
        client.release(true);
        await pool.query('select 1');
        connections += 1;
      }
    };
    const connecting = Promise.all([connect(), connect(), connect(), connect()]);
    for (const password of ['new :/@?', 'old', 'new :/@?']) {
      await admin.query(`alter role ${ROLE} password '${password}'`);
      assert.ok(await lease(url));
      for (const wanted = connections + 8; connections < wanted;) await pool.query('select 1');
    }
    isOver = true;
    await connecting;
    // Another address for this process, so without another password.
    await assert.rejects(
      lease(`${urlWith('old')}?keepalives=1`),
      { code: '28P01' },
      'only the new password is accepted',
    );
  });

  it('is refused when it is neither of the two', async () => {
    await admin.query(`alter role ${ROLE} password 'third'`);
    const url = urlWith('first');
    setOtherPassword([url], 'second');
    await assert.rejects(lease(url), { code: '28P01' });
  });
});
