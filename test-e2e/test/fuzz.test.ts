import { startWorld } from '@wts/testkit';
import assert from 'node:assert/strict';
import { fuzz } from '../fuzz/fuzz.ts';
import { knownIds } from '../fuzz/known.ts';

describe('every operation of the description', () => {
  it('answers anything as described, and nothing with 5xx [never.500-by-input, meta.openapi.complete]', async function () {
    this.timeout(120_000);
    await using world = await startWorld({
      label: 'fuzz',
      overrides: { gateway: { RATE_LIMITS: '{"codes": 0, "codes-address": 0}' } },
    });
    const fuzzer = await world.person('Fuzzer');
    const known = await knownIds(world, fuzzer);
    const report = await fuzz({
      baseUrl: world.baseUrl,
      token: fuzzer.token,
      seed: 20_261_121,
      runsPerOperation: 40,
      known,
    });
    assert.deepEqual(report.faults, []);
    // It got past the doors: both successes and refusals of every kind came back.
    for (const status of [200, 201, 400, 404]) assert.ok((report.statuses[status] ?? 0) > 0, String(status));
  });
});
