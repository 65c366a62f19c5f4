import { Counter, Gauge, type Registry } from 'prom-client';
import type { PurgeWatch } from './trash.ts';

/** Another replica may have purged since: then this one shows nothing. */
const PURGE_SHOWN_MS = 5 * 60_000;

/** Tasks that wait for days show a purge that fails, or a clock that keeps it from running. */
export function purgeMetrics(registry: Registry): PurgeWatch {
  const registers = [registry];
  let seen = { tasks: 0, overdueSeconds: 0, atMs: -Infinity };
  const recent = (value: number): number => (performance.now() - seen.atMs <= PURGE_SHOWN_MS ? value : 0);
  const purged = new Counter({
    name: 'wts_trash_purged_total',
    help: 'Tasks that were deleted for good after their time in the Trash.',
    registers,
  });
  const delayed = new Counter({
    name: 'wts_trash_purge_delays_total',
    help: 'Rounds of the purge that began to wait, because the retention was lowered or the clock of the database moved by more than a day.',
    registers,
  });
  void new Gauge({
    name: 'wts_trash_waiting',
    help: 'Tasks whose time in the Trash is over and that are not deleted yet, at most 100,000.',
    registers,
    collect() {
      this.set(recent(seen.tasks));
    },
  });
  void new Gauge({
    name: 'wts_trash_overdue_seconds',
    help: 'For how long the first of them waits.',
    registers,
    collect() {
      this.set(recent(seen.overdueSeconds));
    },
  });
  return {
    onPurged: (tasks) => purged.inc(tasks),
    onDelayed: () => delayed.inc(),
    onWaiting: (tasks, overdueSeconds) => (seen = { tasks, overdueSeconds, atMs: performance.now() }),
  };
}
