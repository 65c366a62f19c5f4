import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FairGateWatch } from './fairness/fair-gate.ts';
import type { StandbyOutcome } from './store/standby.ts';

/** What an operator watches of commits: how many, how large the groups, how long. */
export function commitMetrics(registry: Registry): (group: { mutations: number; seconds: number }) => void {
  const mutations = new Counter({
    name: 'wts_commit_mutations_total',
    help: 'Mutations answered by the commit engine.',
    registers: [registry],
  });
  const size = new Histogram({
    name: 'wts_commit_group_mutations',
    help: 'Mutations in one commit group.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'wts_commit_group_seconds',
    help: 'Time from taking a group to its last answer, waits for locks included.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  });
  return (group) => {
    mutations.inc(group.mutations);
    size.observe(group.mutations);
    seconds.observe(group.seconds);
  };
}

/** What an operator watches of the copy of the database: whether it takes reads off the primary, and if not, why. */
export function standbyMetrics(registry: Registry): (outcome: StandbyOutcome) => void {
  const reads = new Counter({
    name: 'wts_standby_reads_total',
    help: 'Reads the copy of the database served, passed on because it lacked something, failed, or was not asked because it had just failed.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome) => reads.inc({ outcome });
}

/** What an operator watches of short reads: whether people wait for them, and are sent away. */
export function readMetrics(registry: Registry): (kind: 'page' | 'socket') => FairGateWatch & { onRefused(): void } {
  const labelNames = ['kind'] as const;
  const registers = [registry];
  const waiting = new Gauge({
    name: 'wts_reads_waiting',
    help: 'Reads of the log, and of who sees what, that wait for a connection.',
    labelNames,
    registers,
  });
  const refused = new Counter({
    name: 'wts_reads_refused_total',
    help: 'Callers told to come again, because too much was being read.',
    labelNames,
    registers,
  });
  const dropped = new Counter({
    name: 'wts_reads_dropped_total',
    help: 'Reads that never began: the client left, or waited too long.',
    labelNames,
    registers,
  });
  return (kind) => ({
    onWaiting: (count) => waiting.set({ kind }, count),
    onRefused: () => refused.inc({ kind }),
    onDropped: () => dropped.inc({ kind }),
  });
}
