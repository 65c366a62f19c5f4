import { Counter, type Registry } from 'prom-client';
import type { StandbyOutcome } from './standby.ts';

/** Counts the reads that the database replica served, and why it did not serve others. */
export function standbyMetrics(registry: Registry): (outcome: StandbyOutcome) => void {
  const reads = new Counter({
    name: 'wts_replica_reads_total',
    help: 'Reads that the database replica served, and reads that the primary served because the replica lagged, failed or had just failed.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome) => reads.inc({ outcome });
}
