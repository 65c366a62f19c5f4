import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
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
  const { histogram, counter } = makers(registry);
  const firsts = histogram(
    'wts_webhooks_first_attempt_delay_seconds',
    'From the commit of an event to the start of its first attempt, by the clock of PostgreSQL.',
    { buckets: LATENCY_SECONDS },
  );
  const expired = counter(
    'wts_webhooks_leases_expired_total',
    'Lanes taken over from a replica that did not stop properly.',
  );
  const disabled = counter('wts_webhooks_endpoints_disabled_total', 'Endpoints switched off by their answers.', [
    'reason',
  ]);
  return {
    firstAttempt: (seconds) => firsts.observe(seconds),
    leaseExpired: (lanes) => expired.inc(lanes),
    endpointDisabled: (reason) => disabled.inc({ reason }),
  };
}

export function watchLanes(registry: Registry, gauges: LaneGauges): void {
  const { gauge } = makers(registry);
  gauge('wts_webhooks_attempts_in_flight', 'Attempts under way, by the slots they hold.', ['pace'], () =>
    Object.entries(gauges.inFlight()),
  );
  gauge('wts_webhooks_lanes', 'Lanes that this replica leases; slow is counted in active.', ['state'], () =>
    Object.entries(gauges.lanes()),
  );
  gauge(
    'wts_webhooks_oldest_due_seconds',
    'Age of the oldest event whose first attempt is due and has not begun.',
    [],
    () => [['', gauges.oldestDueSeconds()]],
  );
  gauge('wts_webhooks_outcomes_unrecorded', 'Outcomes of attempts that wait for PostgreSQL.', [], () => [
    ['', gauges.unrecordedOutcomes()],
  ]);
}

function makers(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, options: { buckets: number[]; labelNames?: string[] }) =>
      new Histogram({ name, help, registers, ...options }),
    gauge: (name: string, help: string, labelNames: string[], read: () => [label: string, value: number][]) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          for (const [label, value] of read()) {
            const [labelName] = labelNames;
            if (labelName === undefined) this.set(value);
            else this.set({ [labelName]: label }, value);
          }
        },
      }),
  };
}
