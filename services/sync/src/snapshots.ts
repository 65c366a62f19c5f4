import type { ServiceContext } from '@wts/service-kit/life';
import type { GroupCache, Standby } from '@wts/read-model';
import type { Pool } from 'pg';
import { KeyedReads } from './keyed-reads/keyed-reads.ts';
import { Bootstraps } from './bootstrap/bootstrap.ts';
import { ClientModels } from './bootstrap/client-models.ts';
import type { ConnectionShares } from './connections.ts';
import { FairGate, type LoopTurns } from '@wts/service-kit/fairness';
import type { Reads } from './fairness/reads.ts';
import { snapshotMetrics, type SnapshotKind } from './snapshots/metrics.ts';
import { OpenAnswers } from './snapshots/open-answers.ts';
import { Sources } from './snapshots/sources.ts';
import { SpoolBudget } from './snapshots/spool.ts';
import { SYNC_LIMITS } from './limits.ts';

interface SnapshotsOptions {
  readonly kit: Pick<ServiceContext, 'log' | 'stack' | 'metrics'>;
  readonly shares: ConnectionShares;
  readonly pool: Pool;
  readonly reads: Reads;
  readonly groupCache: GroupCache;
  readonly standby: Standby | null;
  readonly turns: LoopTurns;
}

/** Opens the readers of snapshots, each with a bounded gate that serves people by turns. Keeps sync.bootstrap.reconnect-storm. */
export function openSnapshots({ kit, shares, pool, reads, groupCache, standby, turns }: SnapshotsOptions): {
  bootstraps: Bootstraps;
  clientModels: ClientModels;
  keyedReads: KeyedReads;
  openAnswers: OpenAnswers;
} {
  const { log, stack, metrics } = kit;
  const sources = new Sources({ primary: pool, reads, groupCache, standby });
  const { networkOf } = turns;
  const budget = new SpoolBudget({ networkOf });
  const watchOf = snapshotMetrics(metrics);
  const toolsOf = (kind: SnapshotKind, slots: number) => {
    const watch = watchOf(kind);
    const gate = new FairGate({
      slots,
      networkOf,
      waitMs: SYNC_LIMITS.snapshotWaitMs,
      waitingMax: SYNC_LIMITS.snapshotQueueMax,
      refusal: 'Too many snapshots are being read',
      watch,
    });
    const onFailure = (err: unknown): void =>
      log.warn({ err, kind }, 'reading a snapshot failed; its client received an error line and has to load again');
    return { sources, budget, gate, turns, metrics: watch, onFailure };
  };
  return {
    clientModels: new ClientModels(reads, log),
    bootstraps: stack.use(new Bootstraps(toolsOf('bootstrap', shares.bootstraps))),
    keyedReads: new KeyedReads(toolsOf('batch', shares.keyedReads)),
    openAnswers: new OpenAnswers(),
  };
}
