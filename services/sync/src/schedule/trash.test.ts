import assert from 'node:assert/strict';
import { parseSettings } from '@wts/service-kit/config';
import { Registry } from 'prom-client';
import { settings } from '../config.ts';
import { purgeMetrics } from './metrics.ts';

describe('the retention of the Trash', () => {
  const given = (days: string): string => {
    try {
      return String(parseSettings({ days: settings.trashRetentionDays }, { TRASH_RETENTION_DAYS: days }).days);
    } catch (error) {
      assert.match(String(error), /TRASH_RETENTION_DAYS/);
      return 'refused';
    }
  };

  it('is a whole number of days, 30 by default and 0 for never, and any other value is refused at the start [trash.purge]', () => {
    assert.deepEqual(['', '0', '7', '3650'].map(given), ['30', '0', '7', '3650']);
    assert.deepEqual(['-1', '0.5', 'a month', '3651'].map(given), ['refused', 'refused', 'refused', 'refused']);
  });
});

describe('the metrics of the purge', () => {
  it('show how many tasks were deleted, how many wait and for how long, and how often a round waited', async () => {
    const registry = new Registry();
    const watch = purgeMetrics(registry);
    watch.onPurged(500);
    watch.onDelayed();
    watch.onWaiting(12, 3600);
    const text = await registry.metrics();
    for (const line of [
      'wts_trash_purged_total 500',
      'wts_trash_purge_delays_total 1',
      'wts_trash_waiting 12',
      'wts_trash_overdue_seconds 3600',
    ])
      assert.ok(text.split('\n').includes(line), line);
  });
});
