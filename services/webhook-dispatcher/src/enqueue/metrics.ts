import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type EnqueueMetrics = ReturnType<typeof enqueueMetrics>;

export function enqueueMetrics(registry: Registry) {
  const registers = [registry];
  return {
    behind: new Gauge({
      name: 'wts_webhooks_workspaces_waiting',
      help: 'Workspaces with endpoints that have log entries to become events.',
      registers,
    }),
    events: new Counter({
      name: 'wts_webhooks_events_total',
      help: 'Events of workspaces with an endpoint.',
      registers,
    }),
    deliveries: new Counter({ name: 'wts_webhooks_deliveries_total', help: 'Deliveries made from events.', registers }),
    parked: new Counter({
      name: 'wts_webhooks_parked_entries_total',
      help: 'Log entries that could become no event: see webhooks.parked_entries.',
      registers,
    }),
    trimmed: new Counter({
      name: 'wts_webhooks_trimmed_entries_total',
      help: 'Positions of the log that were dropped by age before a workspace had its events of them.',
      registers,
    }),
    delaySeconds: new Histogram({
      name: 'wts_webhooks_enqueue_delay_seconds',
      help: 'From the commit of a change to its deliveries, by the clocks of both hosts.',
      buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60, 600],
      registers,
    }),
  };
}
