import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { StandbyOutcome } from '@wts/read-model';
import type { CommitWatch } from './commit/engine.ts';
import type { FairGateWatch } from './fairness/fair-gate.ts';

/** What an operator watches of commits: how many, how large the batches, how long, and what is not done. */
export function commitMetrics(registry: Registry, waiting: () => { units: number; bytes: number }): CommitWatch {
  const mutations = new Counter({
    name: 'wts_commit_mutations_total',
    help: 'Mutations answered by the commit engine.',
    registers: [registry],
  });
  const size = new Histogram({
    name: 'wts_commit_batch_mutations',
    help: 'Mutations in one commit group.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'wts_commit_batch_duration_seconds',
    help: 'Time from taking a group to its last answer, waits for locks included.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  });
  const undone = new Counter({
    name: 'wts_commit_requests_dropped_total',
    help: 'Requests refused because they could not be done in time, or dropped before they began because their client was gone or their time over.',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  const cancelled = new Counter({
    name: 'wts_commit_batches_cancelled_total',
    help: 'Commit groups cancelled in PostgreSQL because no client waited for them any more.',
    registers: [registry],
  });
  for (const what of ['units', 'bytes'] as const) {
    const gauge: Gauge = new Gauge({
      name: `wts_commit_waiting_${what}`,
      help: `What waits to be committed, in ${what === 'units' ? 'transactions of clients' : 'bytes of payload'}.`,
      collect: () => {
        gauge.set(waiting()[what]);
      },
      registers: [],
    });
    registry.registerMetric(gauge);
  }
  return {
    onBatch: (batch) => {
      mutations.inc(batch.mutations);
      size.observe(batch.mutations);
      seconds.observe(batch.seconds);
    },
    onRefused: (requests) => undone.inc({ reason: 'refused' }, requests),
    onDropped: (reason) => undone.inc({ reason }),
    onCancelled: () => cancelled.inc(),
  };
}

/** Deletions and moves whose records are not all done: hours of these mean that a step fails again and again. */
export function sweepMetrics(registry: Registry): (waiting: number) => void {
  const waiting = new Gauge({
    name: 'wts_sweep_waiting',
    help: 'Deletions and moves of many records that are still being worked off.',
    registers: [registry],
  });
  return (count) => waiting.set(count);
}

/** What an operator watches of the copy of the database: whether it takes reads off the primary, and if not, why. */
export function standbyMetrics(registry: Registry): (outcome: StandbyOutcome) => void {
  const reads = new Counter({
    name: 'wts_replica_reads_total',
    help: 'Reads the copy of the database served, passed on because it lacked something, failed, or was not asked because it had just failed.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome) => reads.inc({ outcome });
}

export interface WaitMetrics extends FairGateWatch {
  onRefused(): void;
}

/** What an operator watches of what takes turns by person: whether people wait for it, and are sent away. */
export function waitMetrics(registry: Registry): (kind: 'page' | 'socket' | 'body') => WaitMetrics {
  const labelNames = ['kind'] as const;
  const registers = [registry];
  const waiting = new Gauge({
    name: 'wts_fairness_waiting',
    help: 'What waits for the turn of its person: pages of deltas, what sockets read, large bodies.',
    labelNames,
    registers,
  });
  const refused = new Counter({
    name: 'wts_fairness_refused_total',
    help: 'Callers told to come again, because too much waits or is held for them.',
    labelNames,
    registers,
  });
  const dropped = new Counter({
    name: 'wts_fairness_dropped_total',
    help: 'What never began: its client left, or it waited too long.',
    labelNames,
    registers,
  });
  return (kind) => ({
    onWaiting: (count) => waiting.set({ kind }, count),
    onRefused: () => refused.inc({ kind }),
    onDropped: () => dropped.inc({ kind }),
  });
}

/** What pollers have asked for and not taken. */
export function watchPages(registry: Registry, read: () => number): void {
  const gauge = new Gauge({
    name: 'wts_page_unsent_bytes',
    help: 'Pages of deltas that their clients have not taken.',
    registers: [],
    collect() {
      this.set(read());
    },
  });
  registry.registerMetric(gauge);
}
