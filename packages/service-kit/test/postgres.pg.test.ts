import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type ErrorCode } from '@wts/contracts';
import { eventually, openWire, testDatabase, type TestDatabase, type Wire } from '@wts/testkit';
import { migrate } from '../src/migrate/index.ts';
import { createLogger, Readiness } from '../src/observe/index.ts';
import { faultOfSqlState, isRetryableSqlState, openPostgres, type Postgres } from '../src/postgres/index.ts';

const log = createLogger({ name: 'demo', level: 'silent' });

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (failure) {
    return failure;
  }
  throw new Error('It did not fail.');
}

describe('PostgreSQL', () => {
  let database: TestDatabase;
  let wire: Wire;
  let stack: AsyncDisposableStack;
  let readiness: Readiness;
  let postgres: Postgres;
  before(async () => {
    database = await testDatabase('kit');
    await migrate({ url: database.url, directory: join(import.meta.dirname, 'migrations'), schema: 'demo', log });
  });
  after(() => database.drop());
  beforeEach(async () => {
    const { hostname, port } = new URL(database.url);
    wire = await openWire({ host: hostname, port: Number(port) });
    stack = new AsyncDisposableStack();
    readiness = new Readiness(log);
    postgres = openPostgres({
      url: wire.through(database.url),
      poolMax: 3,
      applicationName: 'kit-test',
      log,
      stack,
      readiness,
    });
  });
  afterEach(async () => {
    wire.mend();
    await stack.disposeAsync();
    await wire[Symbol.asyncDispose]();
  });
  const sql = (text: string, values?: unknown[]): Promise<{ rows: unknown[] }> => postgres.pool.query(text, values);
  const isUnavailable = (failure: unknown): boolean => faultOfSqlState(failure)?.code === 'unavailable';

  it('bounds every statement, every lock and every forgotten transaction [never.unbounded]', async () => {
    const shown = async (name: string): Promise<unknown> =>
      (await sql(`select current_setting('${name}') as value`)).rows[0];
    assert.deepEqual(await shown('statement_timeout'), { value: '15s' });
    assert.deepEqual(await shown('lock_timeout'), { value: '5s' });
    assert.deepEqual(await shown('idle_in_transaction_session_timeout'), { value: '10s' });
    assert.deepEqual(await shown('application_name'), { value: 'kit-test' });
  });

  it('may be down when a service starts, and is used when it is up', async () => {
    wire.cut();
    assert.ok(isUnavailable(await failureOf(postgres.ping())));
    await assert.rejects(readiness.check(), Fault);
    wire.mend();
    await postgres.ping();
    await eventually(async () => {
      await readiness.check();
      return true;
    });
  });

  it('may restart: queries under way fail as unavailable, later ones work', async () => {
    await Promise.all([1, 2, 3].map(() => sql('select pg_sleep(0.01)')));
    const underWay = failureOf(sql('select pg_sleep(5)'));
    await eventually(() => postgres.pool.idleCount === 2);
    wire.cut();
    assert.ok(isUnavailable(await underWay));
    await eventually(() => postgres.pool.totalCount === 0);
    wire.mend();
    await postgres.ping();
  });

  it('may break a connection between two statements of a transaction without ending the process', async () => {
    const client = await postgres.pool.connect();
    await client.query('begin');
    const lost = new Promise((resolve) => client.once('end', resolve));
    wire.cut();
    await lost;
    assert.ok(isUnavailable(await failureOf(client.query('select 1'))));
    client.release(true);
    wire.mend();
    await postgres.ping();
  });

  it('that stops replying makes a service not ready in time', async () => {
    await postgres.ping();
    wire.freeze();
    await assert.rejects(Promise.race([readiness.check(), sleep(2_000)]), Fault);
  });

  it('is queried by knex over the same connections', async () => {
    const { knex } = postgres;
    assert.equal(postgres.knex, knex);
    await knex.transaction(async (trx) => {
      await trx('demo.things').insert({ id: crypto.randomUUID(), name: 'by knex' });
      assert.equal((await knex('demo.things').where({ name: 'by knex' })).length, 0);
    });
    assert.equal((await knex('demo.things').where({ name: 'by knex' })).length, 1);
    assert.ok(postgres.pool.totalCount <= 3);
  });

  it('is queried by knex without parameters in error messages', async () => {
    const failure = await failureOf(postgres.knex('demo.things').insert({ id: 'hunter2', name: 'hunter2' }));
    assert.ok(failure instanceof Error);
    assert.equal(faultOfSqlState(failure)?.code, 'validation_failed');
    assert.ok(!failure.message.split(' - ')[0]?.includes('hunter2'), failure.message);
  });

  describe('reports with its own codes', () => {
    const row = (id: string, name: string): Promise<unknown> =>
      sql('insert into demo.things (id, name) values ($1, $2)', [id, name]);
    const cases: Readonly<Record<string, [() => Promise<unknown>, ErrorCode]>> = {
      'an id that is none (22P02)': [() => row('x', 'a'), 'validation_failed'],
      'a name that is taken (23505)': [
        () => Promise.all([1, 2].map(() => row(crypto.randomUUID(), 'twice'))),
        'conflict',
      ],
      'a statement that took too long (57014)': [timedOut, 'unavailable'],
    };
    for (const [what, [work, code]] of Object.entries(cases)) {
      it(`${what}, which means ${code}`, async () => {
        const fault = faultOfSqlState(await failureOf(work()));
        assert.equal(fault?.code, code);
        assert.ok(fault.cause, 'the log needs the cause');
        assert.equal(fault.publicMessage, undefined);
      });
    }

    async function timedOut(): Promise<void> {
      const client = await postgres.pool.connect();
      try {
        await client.query("set statement_timeout = '20ms'");
        await client.query('select pg_sleep(1)');
      } finally {
        client.release(true);
      }
    }

    it('a deadlock (40P01), which may be retried immediately', async () => {
      const [one, two] = [await postgres.pool.connect(), await postgres.pool.connect()];
      await one.query('begin; select pg_advisory_xact_lock(1)');
      await two.query('begin; select pg_advisory_xact_lock(2)');
      const outcomes = await Promise.allSettled([
        one.query('select pg_advisory_xact_lock(2)'),
        two.query('select pg_advisory_xact_lock(1)'),
      ]);
      for (const client of [one, two]) client.release(true);
      const failures = outcomes
        .filter((outcome) => outcome.status === 'rejected')
        .map(({ reason }) => reason as unknown);
      assert.equal(failures.length, 1);
      assert.ok(isRetryableSqlState(failures[0]));
      assert.equal(faultOfSqlState(failures[0])?.code, 'unavailable');
    });

    it('a missing table or right, which is a bug', async () => {
      for (const text of ['select * from demo.nowhere', 'selekt 1', 'select nothing from demo.things'])
        assert.equal(faultOfSqlState(await failureOf(sql(text))), undefined, text);
    });
  });
});
