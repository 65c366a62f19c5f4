import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';

export type EnqueueMetrics = ReturnType<typeof enqueueMetrics>;

export function enqueueMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry);
  return {
    behind: gauge(
      'wts_webhooks_workspaces_waiting',
      'Workspaces with endpoints that have log entries to become events.',
    ),
    events: counter('wts_webhooks_events_total', 'Events of workspaces with an endpoint.'),
    deliveries: counter('wts_webhooks_deliveries_total', 'Deliveries made from events.'),
    parked: counter(
      'wts_webhooks_parked_entries_total',
      'Log entries that could become no event: see webhooks.parked_entries.',
    ),
    trimmed: counter(
      'wts_webhooks_trimmed_entries_total',
      'Positions of the log that were dropped by age before a workspace had its events of them.',
    ),
    delaySeconds: histogram(
      'wts_webhooks_enqueue_delay_seconds',
      'From the commit of a change to its deliveries, by the clocks of both hosts.',
      [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60, 600],
    ),
  };
}
