import assert from 'node:assert/strict';
import { openPgBouncer, testDatabase } from '@wts/testkit';
import { Client } from 'pg';
import { refuseMixedSessions } from '../src/postgres/check-postgres.ts';

describe('the check for mixed sessions', function () {
  it('refuses a pooler that takes its sessions in turn, also when the second one becomes free during the check', async function () {
    await using stack = new AsyncDisposableStack();
    const database = await testDatabase('pooler');
    stack.defer(() => database.drop());
    const settings = ['server_round_robin = 1', 'default_pool_size = 2'];
    const bouncer = stack.use(await openPgBouncer(this, { mode: 'transaction', urls: [database.url], settings }));
    const clients = [1, 2, 3].map(() => new Client({ connectionString: bouncer.through(database.url) }));
    const [one, other, third] = clients as [Client, Client, Client];
    for (const client of clients) {
      await client.connect();
      stack.defer(() => client.end());
    }
    await third.query('begin');
    const ask = one.query.bind(one) as (text: string) => Promise<unknown>;
    let asked = 0;
    one.query = (async (text: string) => {
      const answer = await ask(text);
      if (text.includes('pg_backend_pid')) asked += 1;
      if (asked === 2) {
        // The second statement puts the two free sessions into such an order that `other` gets the new one.
        await third.query('commit');
        await third.query('select 1');
      }
      return answer;
    }) as typeof one.query;
    await assert.rejects(refuseMixedSessions(one, other), /mixes sessions/);
  });
});
