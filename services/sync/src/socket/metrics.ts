import { watchGauge } from '@wts/service-kit/observe';
import { Counter, Histogram, type Registry } from 'prom-client';

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
  const registers = [registry];
  for (const [name, help, value] of [
    ['wts_socket_connections', 'Open WebSockets.', read.sockets],
    ['wts_hub_ring_bytes', 'Recent chunks kept in memory.', read.ringBytes],
    ['wts_socket_unsent_bytes', 'Bytes sent to sockets and not received yet.', read.unsentBytes],
  ] as const)
    watchGauge(registry, { name, help }, value);
  return {
    packets: new Counter({ name: 'wts_socket_packets_total', help: 'Delta frames sent.', registers }),
    actions: new Counter({ name: 'wts_socket_entries_total', help: 'Log entries sent in delta frames.', registers }),
    closes: new Counter({
      name: 'wts_socket_closes_total',
      help: 'Sockets closed by the server, by reason.',
      labelNames: ['code'] as const,
      registers,
    }),
    lag: new Histogram({
      name: 'wts_socket_lag_seconds',
      help: 'Age of the newest entry when its round of sockets was served.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
  };
}
