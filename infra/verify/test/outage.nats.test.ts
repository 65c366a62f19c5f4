import { testDatabase, testNats } from '@wts/testkit';
import { SyncError } from '@wts/client';
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { request } from 'undici';
import { connectToBroker } from '../src/broker.ts';
import { isOutage } from '../src/load/outage.ts';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );

describe('an outage', () => {
  it('is a database, a broker or an HTTP server that refuses connections', async () => {
    const client = new Client({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
    for (const work of [
      () => client.connect(),
      () => connectToBroker('nats://127.0.0.1:1'),
      () => request('http://127.0.0.1:1/'),
    ]) {
      const error = await failureOf(work());
      assert.ok(isOutage(error), String(error));
    }
  });

  it('is a database connection that ends between two queries', async () => {
    await using database = await testDatabase('outage');
    const client = new Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    for (const sql of ['select pg_terminate_backend(pg_backend_pid())', 'select 1']) {
      const error = await failureOf(client.query(sql));
      assert.ok(isOutage(error), String(error));
    }
  });

  it('is a broker that dies during a request', async () => {
    await using server = await testNats('outage');
    const nc = await connectToBroker(server.url);
    await server.kill();
    await nc.close();
    const error = await failureOf(nc.jetstreamManager());
    assert.ok(isOutage(error), String(error));
  });

  it('is a 503, and no other error of a service', () => {
    assert.ok(isOutage(new Error('/sync/deltas answered 503: {}')));
    const lost = new SyncError('connection_failed', 'lost');
    const unreadable = new SyncError('answer_invalid', 'not JSON');
    const [gaveUp, gaveUpInvalid] = [lost, unreadable].map(
      (cause) => new SyncError('deadline_exceeded', 'no', { cause }),
    );
    for (const error of [lost, gaveUp, new SyncError('unavailable', 'away', { status: 503 })])
      assert.ok(isOutage(error));
    for (const error of [unreadable, gaveUpInvalid, new SyncError('internal', 'a bug', { status: 500 })])
      assert.ok(!isOutage(error));
    for (const fault of ['answered 500: {}', 'answered 409: {}', 'a change was refused'])
      assert.ok(!isOutage(new Error(fault)), fault);
  });
});
