import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import type { FairGateWatch } from '@wts/service-kit/fairness';

/** Metrics of snapshots: how many run, wait and are refused, how large they are, how long they take. */
export interface SnapshotMetrics extends FairGateWatch {
  onRefused(): void;
  start(): number;
  end(rows: number, startedAt: number): void;
  onShared(): void;
}

export type SnapshotKind = 'bootstrap' | 'batch';

export function snapshotMetrics(registry: Registry): (kind: SnapshotKind) => SnapshotMetrics {
  const { counter, gauge, histogram } = metricsOf(registry);
  const running = gauge('wts_snapshot_running', 'Snapshots being read from PostgreSQL.', 'kind');
  const queued = gauge('wts_snapshot_waiting', 'Snapshots waiting for a slot.', 'kind');
  const refused = counter(
    'wts_snapshot_refused_total',
    'Requests refused with Retry-After, because too many snapshots were being read.',
    'kind',
  );
  const dropped = counter(
    'wts_snapshot_dropped_total',
    'Snapshots that never started: the client disconnected or waited too long.',
    'kind',
  );
  const shared = counter(
    'wts_snapshot_shared_total',
    'Answers from a snapshot that was read for another request.',
    'kind',
  );
  const rows = counter('wts_snapshot_rows_total', 'Records read from PostgreSQL.', 'kind');
  const seconds = histogram(
    'wts_snapshot_duration_seconds',
    'Time a snapshot was open.',
    [0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
    'kind',
  );
  return (kind) => ({
    onRunning: (count) => running.set({ kind }, count),
    onWaiting: (count) => queued.set({ kind }, count),
    onRefused: () => refused.inc({ kind }),
    onDropped: () => dropped.inc({ kind }),
    onShared: () => shared.inc({ kind }),
    start: () => performance.now(),
    end(count, startedAt) {
      rows.inc({ kind }, count);
      seconds.observe({ kind }, (performance.now() - startedAt) / 1000);
    },
  });
}
