import { watchGauge } from '@wts/service-kit/observe';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { CommitWatch } from './engine.ts';

/** Metrics of commits: how many, how large, how long, and which requests were refused or dropped. */
export function commitMetrics(registry: Registry, waiting: () => { units: number; bytes: number }): CommitWatch {
  const mutations = new Counter({
    name: 'wts_commit_mutations_total',
    help: 'Mutations answered by the commit engine.',
    registers: [registry],
  });
  const size = new Histogram({
    name: 'wts_commit_batch_mutations',
    help: 'Mutations in one batch.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'wts_commit_batch_duration_seconds',
    help: 'Duration of a batch, including lock waits.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  });
  const undone = new Counter({
    name: 'wts_commit_requests_dropped_total',
    help: 'Requests refused because they could not be done in time, or dropped before they began because their client disconnected or their deadline passed.',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  const cancelled = new Counter({
    name: 'wts_commit_batches_cancelled_total',
    help: 'Batches cancelled in PostgreSQL because all their clients had disconnected.',
    registers: [registry],
  });
  for (const what of ['units', 'bytes'] as const) {
    const help = `What waits to be committed, in ${what === 'units' ? 'transactions of clients' : 'bytes of payload'}.`;
    watchGauge(registry, { name: `wts_commit_waiting_${what}`, help }, () => waiting()[what]);
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
