import type { Histogram, Registry } from 'prom-client';
import { metricsOf, REQUEST_SECONDS } from '../observe/metrics.ts';

/**
 * `answered`: with any status below 500. `failed`: with another one. `unreachable`: nothing was sent. `cut`: the connection broke.
 * `overdue`: it took too long. `cancelled`: the caller gave up.
 */
export type CallOutcome = 'answered' | 'failed' | 'unreachable' | 'cut' | 'overdue' | 'cancelled';

export type ObserveCall = (outcome: CallOutcome, startedMs: number) => void;

const HISTOGRAMS = new WeakMap<Registry, Histogram<'to' | 'outcome'>>();

/** Measures requests to a service, each try by itself. */
export function callMetrics(registry: Registry, to: string): ObserveCall {
  const seconds = HISTOGRAMS.getOrInsertComputed(registry, histogramOf);
  // Labels are resolved once per series, because resolving them costs more than observing.
  const series = new Map<CallOutcome, ReturnType<typeof seconds.labels>>();
  return (outcome, startedMs) => {
    let one = series.get(outcome);
    if (one === undefined) series.set(outcome, (one = seconds.labels({ to, outcome })));
    one.observe((performance.now() - startedMs) / 1000);
  };
}

function histogramOf(registry: Registry): Histogram<'to' | 'outcome'> {
  return metricsOf(registry).histogram(
    'wts_upstream_request_duration_seconds',
    'Time of requests to another service, by the service and the outcome: answered, failed (5xx), unreachable, cut, overdue, cancelled.',
    REQUEST_SECONDS,
    'to',
    'outcome',
  );
}
