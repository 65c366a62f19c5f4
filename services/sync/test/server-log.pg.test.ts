import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, openTestPostgres } from '@wts/testkit';
import { Client } from 'pg';
import { TestSyncService } from './test-sync-service.ts';

/** Is part of every value that must not be in the log. */
const MARK = 'CONFIDENTIAL';
const FAILURES: Readonly<Record<string, string>> = {
  'a value that is wrong': `select '${MARK}'::uuid`,
  'a document that is none': `select '{"a": ${MARK}}'::json`,
  'a number in the text': `select ('${MARK}' || 'x')::int`,
  'a statement that is none': `insert into x valuess ('${MARK}')`,
  'a table that is not there': `insert into nowhere values ('${MARK}')`,
  'an error of a function': `do $$ begin raise exception '${MARK} %', '${MARK}' using detail = '${MARK}'; end $$`,
  'a division': `select 1 / (length('${MARK}') - length('${MARK}'))`,
  'a statement that takes too long': `set statement_timeout = 20; select pg_sleep(5), '${MARK}'`,
  'a notice': `do $$ begin raise warning '${MARK}'; end $$`,
  'a note for the log': `do $$ begin raise log '${MARK}'; end $$`,
  'a prepared statement': `prepare p as select $1::uuid; execute p('${MARK}')`,
};

describe('the log of PostgreSQL', () => {
  let stack: AsyncDisposableStack;
  let sync: TestSyncService;
  let written: () => string;
  let connect: (role?: Parameters<TestSyncService['database']['urlOf']>[0]) => Promise<Client>;

  before(async () => {
    stack = new AsyncDisposableStack();
    // Like an operator who logs everything.
    const settings = { log_min_duration_statement: '0', log_statement: 'all', log_min_messages: 'info' };
    const server = stack.use(await openTestPostgres('server-log', { settings }));
    sync = stack.use(await TestSyncService.open('server_log', {}, server.url()));
    written = () => readFileSync(server.log, 'utf8');
    connect = async (role = 'wts_sync') => {
      const client = new Client({ connectionString: sync.database.urlOf(role), application_name: 'test of the log' });
      client.on('error', () => undefined);
      await client.connect();
      stack.defer(() => client.end());
      return client;
    };
  });
  after(() => stack.disposeAsync());

  /** Everything the server has logged so far, up to a marker that shows it is complete. */
  async function untilWritten(): Promise<string> {
    const sign = `sign ${randomUUID()}`;
    await sync.sql.query(`select '${sign}'`);
    return eventually(() => (written().includes(sign) ? written() : null));
  }

  it('gets no record from changes that fail [never.logs.postgres]', async () => {
    const ada = await sync.person(`${MARK} Ada`);
    const workspaceId = await sync.workspace(ada);
    const project = (key: string): object => ({
      modelName: 'Project',
      modelId: randomUUID(),
      action: 'INSERT',
      payload: { workspaceId, key, name: `${MARK} name`, description: `${MARK} text` },
    });
    for (const key of ['P', 'P']) {
      assert.equal((await sync.mutate(ada, [project(key), project('P')])).status, 200);
    }
    assert.equal((await untilWritten()).includes(MARK), false);
  });

  for (const [what, text] of Object.entries(FAILURES)) {
    it(`gets no value from ${what} [never.logs.postgres]`, async () => {
      for (const role of ['wts_sync', 'wts_workspace', 'wts_graph'] as const) {
        const client = await connect(role);
        await client.query(text).catch(() => undefined);
      }
      assert.equal((await untilWritten()).includes(MARK), false);
    });
  }

  it('gets no value from a deadlock, a lock wait, or cancelled and ended sessions [never.logs.postgres]', async () => {
    const [one, other] = [await connect(), await connect()];
    const table = `marks_${randomUUID().slice(0, 8)}`;
    await one.query(
      `create table sync.${table} (id int primary key, text text); insert into sync.${table} values (1, ''), (2, '')`,
    );
    const update = (client: Client, id: number): Promise<unknown> =>
      client.query(`update sync.${table} set text = '${MARK}' where id = ${id}`);
    for (const client of [one, other]) await client.query('begin');
    await update(one, 1);
    await update(other, 2);
    const circle = await Promise.allSettled([update(one, 2), update(other, 1)]);
    assert.deepEqual(circle.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    for (const client of [one, other]) await client.query('rollback');

    await one.query(`begin; update sync.${table} set text = '${MARK}'`);
    await assert.rejects(other.query(`set lock_timeout = 20; update sync.${table} set text = '${MARK}'`), {
      code: '55P03',
    });
    await one.query('rollback');

    for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
      const victim = await connect();
      const { rows } = await victim.query<{ pid: number }>('select pg_backend_pid() as pid');
      const sleeping = assert.rejects(victim.query(`select pg_sleep(10), '${MARK}'`));
      await eventually(async () => {
        await sleep(5);
        const asleep = `select from pg_stat_activity where pid = ${rows[0]?.pid} and state = 'active'`;
        return (await sync.sql.query(asleep)).rowCount === 1;
      });
      await sync.sql.query(`select ${end}(${rows[0]?.pid})`);
      await sleeping;
    }
    assert.equal((await untilWritten()).includes(MARK), false);
  });

  it('causes a warning at the start when the server is set to log values', async () => {
    const lines = async (): Promise<string> => {
      await sync.restart(async () => ({ LOG_LEVEL: 'warn' }));
      return sync.logged();
    };
    assert.doesNotMatch(await lines(), /log of PostgreSQL/);
    await sync.sql.query(`alter role wts_sync reset log_min_messages`);
    assert.match(await lines(), /log of PostgreSQL may contain records.*roles\.sql/);
  });
});
