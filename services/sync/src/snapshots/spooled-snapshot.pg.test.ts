import { randomUUID } from 'node:crypto';
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MODELS } from '@wts/models';
import { eventually, testDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { Contention, FairGate, LoopTurns } from '@wts/service-kit/fairness';
import type { Selection } from '@wts/read-model';
import { snapshotMetrics } from './metrics.ts';
import { SpooledSnapshot, type SnapshotPlan } from './spooled-snapshot.ts';
import { SpoolBudget } from './spool.ts';

async function withSpooledSnapshot(
  plan: Partial<SnapshotPlan>,
  turns: LoopTurns,
  test: (spooled: SpooledSnapshot) => Promise<void>,
) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await testDatabase('spooled', { migrated: true }));
  const pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync') }), (one) => one.end());
  const whole: SnapshotPlan = {
    userId: randomUUID(),
    workspaceId: null,
    encoding: 'identity',
    pool: async () => pool,
    select: () => [],
    ...plan,
  };
  const tools = {
    gate: new FairGate({ slots: 1, waitMs: 1000, waitingMax: 10, refusal: 'Too much' }),
    turns,
    budget: new SpoolBudget(),
    metrics: snapshotMetrics(new Registry())('bootstrap'),
    onFailure: () => {},
  };
  await test(new SpooledSnapshot(whole, tools));
}

/** Grants no turn before `grant`, and counts the bytes requested. */
class HeldTurns extends LoopTurns {
  readonly #grant = Promise.withResolvers<void>();
  requested = 0;

  override take(_person: string, bytes: number): Promise<void> {
    this.requested += bytes;
    return this.#grant.promise;
  }

  grant(): void {
    this.#grant.resolve();
  }
}

const ROWS = 20_000;
const ROW_BYTES = 500;

describe('a spooled snapshot', () => {
  it('that its last reader has left accepts no new reader, so a client that reloads gets a whole answer', () =>
    withSpooledSnapshot({}, new LoopTurns(new Contention()), async (spooled) => {
      const [first, second] = [spooled.join(spooled.person), spooled.join(randomUUID())];
      await spooled.opened;
      spooled.leave(first);
      assert.equal(spooled.isShareable, true);
      spooled.leave(second);
      assert.equal(spooled.isShareable, false);
      await spooled.done;
      assert.equal(spooled.isShareable, false);
    }));

  it('reads no more from PostgreSQL than the turns of the event loop allow its person', async () => {
    const [model] = MODELS;
    assert.ok(model);
    const record = `'{"text":"' || repeat('t', ${ROW_BYTES}) || '"}' as record from generate_series(1, ${ROWS})`;
    const select = (): Selection[] => [{ model, from: `(select ${record}) as made`, where: 'true' }];
    const turns = new HeldTurns(new Contention());
    await withSpooledSnapshot({ select }, turns, async (spooled) => {
      const reader = spooled.join(spooled.person);
      await eventually(() => turns.requested > 0);
      for (let turn = 0; turn < 50; turn += 1) await nextTurn();
      assert.ok(turns.requested < (ROWS * ROW_BYTES) / 10, `${turns.requested} bytes without a turn`);
      turns.grant();
      await spooled.done;
      assert.ok(turns.requested > ROWS * ROW_BYTES);
      spooled.leave(reader);
    });
  });
});
