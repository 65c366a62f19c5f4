import type { EgressMetrics } from '@wts/service-kit/egress';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
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
  const registers = [registry];
  const blocked = new Counter({
    name: 'wts_webhooks_blocked_addresses_total',
    help: 'Connections refused because an address is not public.',
    labelNames: ['where'] as const,
    registers,
  });
  const names = new Histogram({
    name: 'wts_webhooks_dns_seconds',
    help: 'Time to resolve the name of a consumer; cached answers take none.',
    labelNames: ['outcome'] as const,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5],
    registers,
  });
  const connections = new Counter({
    name: 'wts_webhooks_connections_total',
    help: 'Connections used by attempts: new, reused, or new because the reused one had ended.',
    labelNames: ['kind'] as const,
    registers,
  });
  const open = new Gauge({
    name: 'wts_webhooks_connections_open',
    help: 'Connections to consumers, idle ones and those being made among them.',
    registers,
  });
  const attempts = new Histogram({
    name: 'wts_webhooks_attempt_seconds',
    help: 'Time from the start of an attempt to its status line or failure.',
    labelNames: ['outcome'] as const,
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers,
  });
  return {
    addressBlocked: (where) => blocked.inc({ where }),
    nameResolved: (outcome, durationMs) => names.observe({ outcome }, durationMs / 1_000),
    connectionUsed: (kind) => connections.inc({ kind }),
    connectionsOpen: (count) => open.set(count),
    attemptEnded: (error, durationMs) => attempts.observe({ outcome: error ?? 'success' }, durationMs / 1_000),
  };
}
