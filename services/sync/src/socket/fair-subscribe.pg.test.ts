import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually, socketOf, testDatabase, type LiveSocket } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { openTestReplica } from '../../test/replica.ts';
import { FairGate } from '@wts/service-kit/fairness';

const SOCKETS = 40;

describe('a subscription while another person subscribes all the time [never.one-takes-all]', () => {
  it('waits for one of their sockets and not for all, and each socket waits once however often it subscribes', async () => {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await testDatabase('fair-subscribe', { migrated: true }));
    const pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync') }), (one) => one.end());
    const writer = new LogWriter(pool);
    const [ada, bob, home, office] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await writer.join(ada, home);
    await writer.join(bob, office);
    const gate = new FairGate({ slots: 1, waitMs: 60_000, waitingMax: 1000, refusal: 'Too much' });
    const at = stack.use(await openTestReplica({ pool, writer, gate }));
    const connect = async (token: string): Promise<LiveSocket> =>
      stack.use(await socketOf(at, { token, subscribe: false }));
    const own = await Promise.all(Array.from({ length: SOCKETS }, () => connect(ada)));
    const other = await connect(bob);
    const holder = await pool.connect();
    try {
      await holder.query('begin; lock table sync.workspace_members in access exclusive mode');
      for (const socket of own) {
        for (let count = 0; count < 9; count += 1) socket.send({ type: 'subscribe', afterSyncId: '0', token: ada });
      }
      await eventually(() => gate.running === 1 && gate.waiting >= SOCKETS - 1);
      other.send({ type: 'subscribe', afterSyncId: '0', token: bob });
      await eventually(() => gate.waiting >= SOCKETS);
      // The pong shows that the server has read all frames.
      assert.ok(gate.waiting <= SOCKETS + 1, `${gate.waiting} wait`);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    const isSubscribed = ({ frames }: LiveSocket): boolean => frames[0]?.type === 'subscribed';
    let before = 0;
    await other.until(() => {
      before = own.filter(isSubscribed).length;
      return isSubscribed(other);
    });
    assert.ok(before < SOCKETS / 2, `${before} were served before`);
    for (const socket of own) await socket.until(() => isSubscribed(socket));
    assert.ok(own.every(({ frames }) => frames.filter(({ type }) => type === 'subscribed').length <= 2));
  });
});
