import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import type { DisabledReason } from '../domain/disable-rule.ts';

/** What is measured while it happens. */
export interface LaneMetrics {
  /** A first attempt began, so long after the commit of its event. */
  firstAttempt(seconds: number): void;
  leaseExpired(lanes: number): void;
  endpointDisabled(reason: DisabledReason): void;
}

/** What is computed when the metrics are read. */
export interface LaneGauges {
  inFlight(): Readonly<Record<'quick' | 'slow' | 'unknown', number>>;
  lanes(): { readonly active: number; readonly slow: number; readonly idle: number };
  oldestDueSeconds(): number;
  unrecordedOutcomes(): number;
}

const LATENCY_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600];

export function laneMetrics(registry: Registry): LaneMetrics {
  const { histogram, counter } = metricsOf(registry);
  const firsts = histogram(
    'wts_webhooks_first_attempt_delay_seconds',
    'From the commit of an event to the start of its first attempt, by the clock of PostgreSQL.',
    LATENCY_SECONDS,
  );
  const expired = counter(
    'wts_webhooks_leases_expired_total',
    'Lanes taken over from a replica that did not stop properly.',
  );
  const disabled = counter(
    'wts_webhooks_endpoints_disabled_total',
    'Endpoints switched off by their answers.',
    'reason',
  );
  return {
    firstAttempt: (seconds) => firsts.observe(seconds),
    leaseExpired: (lanes) => expired.inc(lanes),
    endpointDisabled: (reason) => disabled.inc({ reason }),
  };
}

export function watchLanes(registry: Registry, gauges: LaneGauges): void {
  const { watch, watchSeries } = metricsOf(registry);
  watchSeries('wts_webhooks_attempts_in_flight', 'Attempts under way, by the slots they hold.', ['pace'], () =>
    Object.entries(gauges.inFlight()).map(([pace, count]) => [{ pace }, count]),
  );
  watchSeries('wts_webhooks_lanes', 'Lanes that this replica leases; slow is counted in active.', ['state'], () =>
    Object.entries(gauges.lanes()).map(([state, count]) => [{ state }, count]),
  );
  watch(
    'wts_webhooks_oldest_due_seconds',
    'Age of the oldest event whose first attempt is due and has not begun.',
    () => gauges.oldestDueSeconds(),
  );
  watch('wts_webhooks_outcomes_unrecorded', 'Outcomes of attempts that wait for PostgreSQL.', () =>
    gauges.unrecordedOutcomes(),
  );
}
