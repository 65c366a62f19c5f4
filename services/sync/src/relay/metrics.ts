import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface RelayMetrics {
  readonly behind: Gauge;
  readonly relayed: Counter;
  readonly publishSeconds: Histogram;
}

export function relayMetrics(registry: Registry): RelayMetrics {
  const registers = [registry];
  return {
    behind: new Gauge({
      name: 'wts_relay_lag_entries',
      help: 'Log entries not yet in the stream, at most a page of 500.',
      registers,
    }),
    relayed: new Counter({ name: 'wts_relay_entries_total', help: 'Log entries put into the stream.', registers }),
    publishSeconds: new Histogram({
      name: 'wts_relay_publish_duration_seconds',
      help: 'From publishing a chunk to its acknowledgement.',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 2.5],
      registers,
    }),
  };
}
