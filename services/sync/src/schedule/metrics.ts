import { Counter, Gauge, type Registry } from 'prom-client';
import type { SchedulerWatch } from './repeats.ts';
import type { PurgeWatch } from './trash.ts';

/** Another replica may have worked since: then this one shows nothing. */
const SHOWN_MS = 5 * 60_000;

/** Tasks that wait for days show a purge that fails, or a clock that keeps it from running. */
export function purgeMetrics(registry: Registry): PurgeWatch {
  const registers = [registry];
  let seen = { tasks: 0, overdueSeconds: 0, atMs: -Infinity };
  const recent = (value: number): number => (performance.now() - seen.atMs <= SHOWN_MS ? value : 0);
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

/** A lag shows a scheduler that fails; series that failed have the reason in `repeatError`. */
export function repeatMetrics(registry: Registry): SchedulerWatch {
  const registers = [registry];
  let seen = { lagSeconds: 0, waiting: 0, failed: 0, atMs: -Infinity };
  const see = (more: Partial<typeof seen>): void => void (seen = { ...seen, ...more, atMs: performance.now() });
  const recent = (value: number): number => (performance.now() - seen.atMs <= SHOWN_MS ? value : 0);
  const made = new Counter({
    name: 'wts_repeat_tasks_total',
    help: 'Next tasks of repeating ones that were created because their day began.',
    registers,
  });
  void new Gauge({
    name: 'wts_repeat_lag_seconds',
    help: 'How long ago the day of a repeating task began whose next one is not created yet.',
    registers,
    collect() {
      this.set(recent(seen.lagSeconds));
    },
  });
  void new Gauge({
    name: 'wts_repeat_waiting',
    help: 'Series with as many open tasks as REPEAT_OPEN_MAX allows, which go on when some are completed.',
    registers,
    collect() {
      this.set(recent(seen.waiting));
    },
  });
  void new Gauge({
    name: 'wts_repeat_failed',
    help: 'Series that stopped, with the reason in repeatError of their newest task.',
    registers,
    collect() {
      this.set(recent(seen.failed));
    },
  });
  return { onMade: (tasks) => made.inc(tasks), onLag: (lagSeconds) => see({ lagSeconds }), onStopped: see };
}
