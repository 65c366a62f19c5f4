import { Counter, Histogram, type Registry } from 'prom-client';
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
