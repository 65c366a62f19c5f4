import assert from 'node:assert/strict';
import { ACTIONS } from '@wts/contracts';
import { HAS_GAPS } from '@wts/testkit';
import { assertLogIsState, shownOutside } from '../../test/fold.ts';
import { anyUnit, dice, newCast } from '../../test/random-changes.ts';
import { TestEngines } from '../../test/test-engines.ts';
import { SWEEP_CLIENT } from '../sweeps/sweeper.ts';

describe('the log and the tables', function () {
  for (const [seed, bounds] of [
    [1, {}],
    [2, { recordsMax: 3, levelsMax: 1 }],
  ] as const) {
    const how = seed > 1 ? ', with sweeps for most deletions and moves' : '';
    it(`are equal group by group after any changes by many people through several replicas (seed ${seed})${how}`, async () => {
      await using engines = await TestEngines.open('state_is_log', 3, bounds);
      const roll = dice(seed);
      const cast = await newCast(engines, roll);
      const counts = { applied: 0, refused: 0 };
      for (let round = 0; round < 20; round += 1) {
        const requests = Array.from({ length: 6 }, () =>
          Array.from({ length: 1 + roll.below(8) }, () => anyUnit(cast, roll)),
        );
        const sweeping = round % 3 === 0 ? engines.sweep() : undefined;
        const outcomes = (await Promise.all(requests.map((units) => engines.any.commit(units)))).flat();
        await sweeping;
        for (const { ok } of outcomes) counts[ok ? 'applied' : 'refused'] += 1;
      }
      assert.ok(counts.applied > 100 && counts.refused > 50, JSON.stringify(counts));

      await engines.sweep();
      assert.equal(await engines.sweeps(), 0);
      const entries = await engines.entries();
      assert.ok(seed === 1 || entries.some(({ clientId }) => clientId === SWEEP_CLIENT));
      if (!HAS_GAPS) assert.equal(entries.at(-1)?.syncId, String(entries.length));
      assert.ok(new Set(entries.map(({ action }) => action)).size === ACTIONS.length);
      assert.deepEqual(shownOutside(entries), []);
      await assertLogIsState(entries, engines.pool);
    });
  }
});
