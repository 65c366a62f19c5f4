import { watchGauge } from '@wts/service-kit/observe';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { FairGateWatch } from '@wts/service-kit/fairness';

/** A sweep that waits for hours has a step that fails at every try. */
export function sweepMetrics(registry: Registry): (waiting: number) => void {
  const waiting = new Gauge({
    name: 'wts_sweep_waiting',
    help: 'Deletions and moves of many records that are still in progress.',
    registers: [registry],
  });
  return (count) => waiting.set(count);
}

export interface WaitMetrics extends FairGateWatch {
  onRefused(): void;
}

/** Metrics of resources that are shared out by person: what waits, what was refused, what was dropped. */
export function waitMetrics(registry: Registry): (kind: 'page' | 'socket' | 'body') => WaitMetrics {
  const labelNames = ['kind'] as const;
  const registers = [registry];
  const waiting = new Gauge({
    name: 'wts_fairness_waiting',
    help: 'Waiting for the turn of their person: pages of deltas, reads of sockets, large bodies.',
    labelNames,
    registers,
  });
  const refused = new Counter({
    name: 'wts_fairness_refused_total',
    help: 'Requests refused with Retry-After, because too much waits or is held for their person.',
    labelNames,
    registers,
  });
  const dropped = new Counter({
    name: 'wts_fairness_dropped_total',
    help: 'Requests that never began: the client disconnected, or they waited too long.',
    labelNames,
    registers,
  });
  return (kind) => ({
    onWaiting: (count) => waiting.set({ kind }, count),
    onRefused: () => refused.inc({ kind }),
    onDropped: () => dropped.inc({ kind }),
  });
}

/** Pages that pollers requested and have not received. */
export function watchPages(registry: Registry, read: () => number): void {
  const help = 'Bytes of pages of deltas that clients have requested and not received.';
  watchGauge(registry, { name: 'wts_page_unsent_bytes', help }, read);
}
