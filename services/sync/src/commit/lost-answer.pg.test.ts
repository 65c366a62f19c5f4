import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { servicePrincipal } from '@wts/access';
import { testDatabase } from '@wts/testkit';
import type { TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { ActionLog } from '../store/log.ts';
import { CommitEngine } from './engine.ts';
import type { Unit, UnitOutcome } from './unit.ts';

describe('a unit that is sent again because its answer got lost', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let pool: Pool;
  let replicas: readonly CommitEngine[];

  before(async () => {
    database = await testDatabase('lost_answer', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    replicas = [0, 1, 2, 3].map(() => new CommitEngine({ pool, log: new ActionLog(pool) }));
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  const user = (modelId: string, action: 'INSERT' | 'DELETE'): Unit => ({
    principal: servicePrincipal('test'),
    authority: 'service',
    clientId: 'test',
    clientTxId: randomUUID(),
    mutations: [{ modelName: 'User', modelId, action, payload: action === 'INSERT' ? { name: 'Ada' } : {} }],
  });
  const everywhereAtOnce = async (unit: Unit): Promise<UnitOutcome[]> =>
    (await Promise.all(replicas.flatMap((engine) => [engine.commit([unit]), engine.commit([unit])]))).flat();

  it('is applied once and answered alike, also while the first sending is still under way', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = randomUUID();
      for (const action of ['INSERT', 'DELETE'] as const) {
        const outcomes = await everywhereAtOnce(user(id, action));
        const places = new Set(outcomes.map((outcome) => (outcome.ok ? outcome.lastId : outcome.code)));
        assert.equal(places.size, 1, `${action}: ${[...places].join(', ')}`);
        assert.ok(outcomes.every(({ ok }) => ok));
      }
    }
  });

  it('under another key is told what stands in its way', async () => {
    const id = randomUUID();
    const first = { ...user(id, 'INSERT'), clientId: 'somebody else' };
    await replicas[0]?.commit([first]);
    const [second] = (await replicas[1]?.commit([user(id, 'INSERT')])) ?? [];
    assert.deepEqual(second?.ok === false && second.code, 'conflict');
  });
});
