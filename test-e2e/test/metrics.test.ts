import { SERVICES } from '@wts/local';
import { catalog, METRICS } from '@wts/observability';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openShared } from './shared-system.ts';

describe('the list of metrics', () => {
  it('has every metric of a running system, with its type, its labels and its sentence', async () => {
    const { metricsUrlOf } = await openShared();
    const found = await catalog(SERVICES.map(({ name }) => ({ name, metricsUrl: metricsUrlOf(name) })));
    const hint = 'to update infra/observability/metrics.md: npm start, and npm run observability in another terminal';
    assert.equal(await readFile(METRICS, 'utf8'), found, hint);
  });
});
