import { openWire, testDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Pool } from 'pg';
import { backendOf, cancelOnAbort } from './cancel-on-abort.ts';

describe('a statement whose signal aborts', () => {
  it('ends in PostgreSQL, also when the first cancel request arrives before it', async () => {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await testDatabase('cancel-on-abort'));
    const { hostname: host, port } = new URL(database.url);
    const wire = stack.use(await openWire({ host, port: Number(port) }));
    const open = (connectionString: string) =>
      stack.adopt(new Pool({ connectionString, max: 1 }), (pool) => pool.end());
    const [pool, cancelPool] = [open(wire.through(database.url)), open(database.url)];
    const client = await pool.connect();
    await backendOf(client);
    const aborting = new AbortController();
    const cancelling = cancelOnAbort(client, cancelPool, aborting.signal);
    wire.freeze();
    const running = client.query('select pg_sleep(3600)');
    const cancelled = once(cancelPool, 'release');
    aborting.abort();
    await cancelled;
    wire.mend();
    await assert.rejects(running, { code: '57014' });
    await cancelling[Symbol.asyncDispose]();
    assert.equal((await client.query<{ sum: number }>('select 1 + 1 as sum')).rows[0]?.sum, 2);
    client.release();
  });
});
