import { randomUUID } from 'node:crypto';
import assert from 'node:assert/strict';
import { testDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { FairGate } from '../fairness/fair-gate.ts';
import { snapshotMetrics } from './metrics.ts';
import { Production } from './production.ts';
import { SpoolRoom } from './spool.ts';

describe('a production', () => {
  it('that its last reader has left is joined by nobody: who loads a page again at once gets a whole answer', async () => {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await testDatabase('production', { migrated: true }));
    const pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync') }), (one) => one.end());
    const metrics = snapshotMetrics(new Registry())('bootstrap');
    const plan = {
      userId: randomUUID(),
      workspaceId: null,
      encoding: 'identity',
      pool: async () => pool,
      select: () => [],
    } as const;
    const tools = {
      gate: new FairGate({ slots: 1, waitMs: 1000, waitingMax: 10, refusal: 'Too much' }),
      room: new SpoolRoom(),
      metrics,
      onFailure: () => {},
    };
    const production = new Production(plan, tools);
    const [first, second] = [production.join(plan.userId), production.join(randomUUID())];
    await production.opened;
    production.leave(first);
    assert.equal(production.isShareable, true);
    production.leave(second);
    assert.equal(production.isShareable, false);
    await production.done;
    assert.equal(production.isShareable, false);
  });
});
