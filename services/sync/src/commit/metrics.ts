import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import type { CommitWatch } from './engine.ts';

/** Metrics of commits: how many, how large, how long, and which requests were refused or dropped. */
export function commitMetrics(registry: Registry, waiting: () => { units: number; bytes: number }): CommitWatch {
  const { counter, histogram, watch } = metricsOf(registry);
  const mutations = counter('wts_commit_mutations_total', 'Mutations answered by the commit engine.');
  const size = histogram('wts_commit_batch_mutations', 'Mutations in one batch.', [1, 2, 4, 8, 16, 32, 64, 128]);
  const seconds = histogram(
    'wts_commit_batch_duration_seconds',
    'Duration of a batch, including lock waits.',
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
  );
  const undone = counter(
    'wts_commit_requests_dropped_total',
    'Requests refused because they could not be done in time, or dropped before they began because their client disconnected or their deadline passed.',
    'reason',
  );
  const cancelled = counter(
    'wts_commit_batches_cancelled_total',
    'Batches cancelled in PostgreSQL because all their clients had disconnected.',
  );
  for (const what of ['units', 'bytes'] as const) {
    const help = `What waits to be committed, in ${what === 'units' ? 'transactions of clients' : 'bytes of payload'}.`;
    watch(`wts_commit_waiting_${what}`, help, () => waiting()[what]);
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
