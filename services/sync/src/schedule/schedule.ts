import { every } from '@wts/service-kit/background';
import type { ServiceContext } from '@wts/service-kit/life';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { SYNC_LIMITS } from '../limits.ts';
import { deleteMovedWorkspaces } from './moved-workspaces.ts';
import { purgeMetrics, repeatMetrics } from './metrics.ts';
import { startRepeatScheduler } from './repeats.ts';
import { startTrashPurge } from './trash.ts';

interface ScheduleSettings {
  readonly databaseUrl: string;
  readonly trashRetentionDays: number;
  readonly repeatOpenMax: number;
}

/** Starts what sync does by itself, for as long as the service runs. */
export function startSchedule(
  kit: ServiceContext,
  pool: Pool,
  engine: CommitEngine,
  { databaseUrl, trashRetentionDays: retentionDays, repeatOpenMax: openMax }: ScheduleSettings,
): void {
  const { stack, log: logger } = kit;
  // Lets this replica know the workspaces that others deleted or began to move, so that their next change here needs no second try.
  const archived = every(kit, {
    name: 'archived-workspaces',
    everyMs: SYNC_LIMITS.archivedWorkspacesEveryMs,
    run: () => engine.archivedWorkspaces.refresh(),
    failing:
      'the deleted workspaces could not be read; until then, each change in one that another replica deleted is tried twice',
  });
  stack.use(archived);
  stack.use(deleteMovedWorkspaces(kit, { pool, engine }));
  const watch = purgeMetrics(kit.metrics);
  stack.use(startRepeatScheduler(kit, { pool, engine, openMax, watch: repeatMetrics(kit.metrics), databaseUrl }));
  stack.use(startTrashPurge(kit, { pool, engine, retentionDays, logger, watch, databaseUrl }));
}
