import type { StandbyOutcome } from '@wts/read-model';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';

/** Reads that the database replica served, and why it did not serve others. */
export function standbyMetrics(registry: Registry): (outcome: StandbyOutcome) => void {
  const reads = new Counter({
    name: 'wts_replica_reads_total',
    help: 'Reads that the database replica served, and reads that the primary served because the replica lagged, failed or had just failed.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome) => reads.inc({ outcome });
}
