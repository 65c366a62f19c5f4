import { availableParallelism } from 'node:os';
import type { ServiceContext } from '@wts/service-kit';
import type { Pool } from 'pg';
import { Batches } from './batch/batch.ts';
import { Bootstraps } from './bootstrap/bootstrap.ts';
import { ClientModels } from './bootstrap/client-models.ts';
import { Admission } from './snapshots/admission.ts';
import { snapshotMetrics, type SnapshotKind } from './snapshots/metrics.ts';
import { Sources } from './snapshots/sources.ts';
import { SpoolRoom } from './snapshots/spool.ts';
import type { Standby } from './store/standby.ts';

interface SnapshotsOptions {
  readonly kit: Pick<ServiceContext, 'log' | 'stack' | 'metrics'>;
  readonly poolMax: number;
  readonly pool: Pool;
  readonly standby: Standby | null;
}

/**
 * What is read in snapshots. More of them at once than twice the cores only wait for each other, and they never take all
 * connections: half may be bootstraps, a quarter batches, the rest is for pages of the log and for asking who sees what.
 */
export function openSnapshots({ kit, poolMax, pool, standby }: SnapshotsOptions): {
  bootstraps: Bootstraps;
  clientModels: ClientModels;
  batches: Batches;
} {
  const { log, stack, metrics } = kit;
  const sources = new Sources(pool, standby);
  const room = new SpoolRoom();
  const metricsOf = snapshotMetrics(metrics);
  const toolsOf = (kind: SnapshotKind, slots: number) => ({
    sources,
    room,
    admission: new Admission(slots, metricsOf(kind)),
    metrics: metricsOf(kind),
    onFailure: (err: unknown) => log.warn({ err, kind }, 'a snapshot broke off'),
  });
  const slots = Math.min(availableParallelism() * 2, Math.floor(poolMax / 2));
  return {
    clientModels: new ClientModels(pool, log),
    bootstraps: stack.use(new Bootstraps(toolsOf('bootstrap', slots))),
    batches: new Batches(toolsOf('batch', Math.floor(poolMax / 4))),
  };
}
