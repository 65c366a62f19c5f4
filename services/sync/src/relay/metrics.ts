import { metricsOf } from '@wts/service-kit/observe';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface RelayMetrics {
  readonly behind: Gauge;
  readonly relayed: Counter;
  readonly publishSeconds: Histogram;
}

export function relayMetrics(registry: Registry): RelayMetrics {
  const { counter, gauge, histogram } = metricsOf(registry);
  return {
    behind: gauge('wts_relay_lag_entries', 'Log entries not yet in the stream, at most a page of 500.'),
    relayed: counter('wts_relay_entries_total', 'Log entries put into the stream.'),
    publishSeconds: histogram(
      'wts_relay_publish_duration_seconds',
      'From publishing a chunk to its acknowledgement.',
      [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 2.5],
    ),
  };
}
