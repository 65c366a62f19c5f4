import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import { watchLast } from '../metrics.ts';
import type { SchedulerWatch } from './repeats.ts';
import type { PurgeWatch } from './trash.ts';

/** Tasks that wait for days show a purge that fails, or a clock that keeps it from running. */
export function purgeMetrics(registry: Registry): PurgeWatch {
  const { counter } = metricsOf(registry);
  const purged = counter('wts_trash_purged_total', 'Tasks that were deleted for good after their time in the Trash.');
  const delayed = counter(
    'wts_trash_purge_delays_total',
    'Rounds of the purge that began to wait, because the retention was lowered or the clock of the database moved by more than a day.',
  );
  const see = watchLast(registry, { tasks: 0, overdueSeconds: 0 }, [
    [
      'wts_trash_waiting',
      'Tasks whose time in the Trash is over and that are not deleted yet, at most 100,000.',
      ({ tasks }) => tasks,
    ],
    ['wts_trash_overdue_seconds', 'For how long the first of them waits.', ({ overdueSeconds }) => overdueSeconds],
  ]);
  return {
    onPurged: (tasks) => purged.inc(tasks),
    onDelayed: () => delayed.inc(),
    onWaiting: (tasks, overdueSeconds) => see({ tasks, overdueSeconds }),
  };
}

/** A lag shows a scheduler that fails; series that failed have the reason in `repeatError`. */
export function repeatMetrics(registry: Registry): SchedulerWatch {
  const { counter } = metricsOf(registry);
  const made = counter(
    'wts_repeat_tasks_total',
    'Next tasks of repeating ones that were created because their day began.',
  );
  const see = watchLast(registry, { lagSeconds: 0, waiting: 0, failed: 0 }, [
    [
      'wts_repeat_lag_seconds',
      'How long ago the day of a repeating task began whose next one is not created yet.',
      ({ lagSeconds }) => lagSeconds,
    ],
    [
      'wts_repeat_waiting',
      'Series with as many open tasks as REPEAT_OPEN_MAX allows, which go on when some are completed.',
      ({ waiting }) => waiting,
    ],
    [
      'wts_repeat_failed',
      'Series that stopped, with the reason in repeatError of their newest task.',
      ({ failed }) => failed,
    ],
  ]);
  return { onMade: (tasks) => made.inc(tasks), onLag: (lagSeconds) => see({ lagSeconds }), onStopped: see };
}
