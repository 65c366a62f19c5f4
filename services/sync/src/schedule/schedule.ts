import type { ServiceContext } from '@wts/service-kit/life';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { followArchivedWorkspaces } from './archived-workspaces.ts';
import { deleteMovedWorkspaces } from './moved-workspaces.ts';
import { purgeMetrics, repeatMetrics } from './metrics.ts';
import { startRepeatScheduler } from './repeats.ts';
import { startTrashPurge } from './trash.ts';

/** Starts what sync does by itself, for as long as the service runs. */
export function startSchedule(
  kit: ServiceContext,
  {
    pool,
    engine,
    config,
  }: {
    readonly pool: Pool;
    readonly engine: CommitEngine;
    readonly config: {
      readonly databaseUrl: string;
      readonly trashRetentionDays: number;
      readonly repeatOpenMax: number;
    };
  },
): void {
  const { stack, log: logger } = kit;
  const { databaseUrl, trashRetentionDays: retentionDays, repeatOpenMax: openMax } = config;
  stack.use(followArchivedWorkspaces(kit, engine.archivedWorkspaces));
  stack.use(deleteMovedWorkspaces(kit, { pool, engine }));
  const watch = purgeMetrics(kit.metrics);
  stack.use(startRepeatScheduler(kit, { pool, engine, openMax, watch: repeatMetrics(kit.metrics), databaseUrl }));
  stack.use(startTrashPurge(kit, { pool, engine, retentionDays, logger, watch, databaseUrl }));
}
