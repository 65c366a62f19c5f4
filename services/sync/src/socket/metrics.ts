import { metricsOf } from '@wts/service-kit/observe';
import type { Counter, Histogram, Registry } from 'prom-client';

export interface SocketMetrics {
  readonly packets: Counter;
  readonly actions: Counter;
  readonly closes: Counter<'code'>;
  readonly lag: Histogram;
}

export function socketMetrics(
  registry: Registry,
  read: { readonly sockets: () => number; readonly ringBytes: () => number; readonly unsentBytes: () => number },
): SocketMetrics {
  const { counter, histogram, watch } = metricsOf(registry);
  watch('wts_socket_connections', 'Open WebSockets.', read.sockets);
  watch('wts_hub_ring_bytes', 'Recent chunks kept in memory.', read.ringBytes);
  watch('wts_socket_unsent_bytes', 'Bytes sent to sockets and not received yet.', read.unsentBytes);
  return {
    packets: counter('wts_socket_packets_total', 'Delta frames sent.'),
    actions: counter('wts_socket_entries_total', 'Log entries sent in delta frames.'),
    closes: counter('wts_socket_closes_total', 'Sockets closed by the server, by reason.', 'code'),
    lag: histogram(
      'wts_socket_lag_seconds',
      'Age of the newest entry when its round of sockets was served.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    ),
  };
}
