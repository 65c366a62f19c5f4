import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import type { FairGateWatch } from '@wts/service-kit/fairness';

/** A sweep that waits for hours has a step that fails at every try. */
export function sweepMetrics(registry: Registry): (waiting: number) => void {
  const waiting = metricsOf(registry).gauge(
    'wts_sweep_waiting',
    'Deletions and moves of many records that are still in progress.',
  );
  return (count) => waiting.set(count);
}

/** Another replica may have worked since: then this one shows nothing. */
const SHOWN_MS = 5 * 60_000;

type LastGauge<Seen> = readonly [name: string, help: string, value: (seen: Seen, agoMs: number) => number];

/** Gauges of what this replica saw last. Returns the function that takes it, or a part of it. */
export function watchLast<Seen extends object>(
  registry: Registry,
  initial: Seen,
  gauges: readonly LastGauge<Seen>[],
): (more: Partial<Seen>) => void {
  let [seen, atMs] = [initial, -Infinity];
  for (const [name, help, value] of gauges)
    metricsOf(registry).watch(name, help, () => {
      const agoMs = performance.now() - atMs;
      return agoMs <= SHOWN_MS ? value(seen, agoMs) : 0;
    });
  return (more) => {
    seen = { ...seen, ...more };
    atMs = performance.now();
  };
}

/** What of the log is kept. Returns the function that takes a measurement. */
export function logMetrics(
  registry: Registry,
  retentionMs: number,
): (measured: { readonly oldestSeconds: number; readonly bytes: number }) => void {
  const retention = 'How long the log is kept at least (LOG_RETENTION_DAYS).';
  metricsOf(registry).watch('wts_log_retention_seconds', retention, () => retentionMs / 1000);
  return watchLast(registry, { oldestSeconds: 0, bytes: 0 }, [
    [
      'wts_log_oldest_seconds',
      'How old the first entry of the log is. It may be older than the retention: whole partitions are deleted.',
      ({ oldestSeconds }, agoMs) => oldestSeconds + agoMs / 1000,
    ],
    ['wts_log_bytes', 'The log on disk, with its indexes, without the tables of models.', ({ bytes }) => bytes],
  ]);
}

export interface WaitMetrics extends FairGateWatch {
  onRefused(): void;
}

/** Metrics of resources that are shared out by person: what waits, what was refused, what was dropped. */
export function waitMetrics(registry: Registry): (kind: 'page' | 'socket' | 'body') => WaitMetrics {
  const { counter, gauge } = metricsOf(registry);
  const waiting = gauge(
    'wts_fairness_waiting',
    'Waiting for the turn of their person: pages of deltas, reads of sockets, large bodies.',
    'kind',
  );
  const refused = counter(
    'wts_fairness_refused_total',
    'Requests refused with Retry-After, because too much waits or is held for their person.',
    'kind',
  );
  const dropped = counter(
    'wts_fairness_dropped_total',
    'Requests that never began: the client disconnected, or they waited too long.',
    'kind',
  );
  return (kind) => ({
    onWaiting: (count) => waiting.set({ kind }, count),
    onRefused: () => refused.inc({ kind }),
    onDropped: () => dropped.inc({ kind }),
  });
}
