import type { EgressMetrics } from '@wts/service-kit/egress';
import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import type { AttemptError } from '../domain/attempt.ts';

/** What attempts report while they run. */
export interface AttemptMetrics extends EgressMetrics {
  /** `resent`: the reused connection had ended meanwhile, and the request went out again on a new one. */
  connectionUsed(kind: 'new' | 'reused' | 'resent'): void;
  /** How many there are now, idle ones among them. */
  connectionsOpen(count: number): void;
  attemptEnded(error: AttemptError | null, durationMs: number): void;
}

export function attemptMetrics(registry: Registry): AttemptMetrics {
  const { counter, gauge, histogram } = metricsOf(registry);
  const blocked = counter(
    'wts_webhooks_blocked_addresses_total',
    'Connections refused because an address is not public.',
    'where',
  );
  const names = histogram(
    'wts_webhooks_dns_seconds',
    'Time to resolve the name of a consumer; cached answers take none.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5],
    'outcome',
  );
  const connections = counter(
    'wts_webhooks_connections_total',
    'Connections used by attempts: new, reused, or new because the reused one had ended.',
    'kind',
  );
  const open = gauge(
    'wts_webhooks_connections_open',
    'Connections to consumers, idle ones and those being made among them.',
  );
  const attempts = histogram(
    'wts_webhooks_attempt_seconds',
    'Time from the start of an attempt to its status line or failure.',
    [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    'outcome',
  );
  return {
    addressBlocked: (where) => blocked.inc({ where }),
    nameResolved: (outcome, durationMs) => names.observe({ outcome }, durationMs / 1_000),
    connectionUsed: (kind) => connections.inc({ kind }),
    connectionsOpen: (count) => open.set(count),
    attemptEnded: (error, durationMs) => attempts.observe({ outcome: error ?? 'success' }, durationMs / 1_000),
  };
}
