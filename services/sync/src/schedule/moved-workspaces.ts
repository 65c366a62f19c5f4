import { syncApi } from '@wts/contracts';
import { Workspace } from '@wts/models';
import { every, type BackgroundContext, type BackgroundWork, type RunResult } from '@wts/service-kit/background';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { ownUnit } from '../decision/unit.ts';
import { SYNC_LIMITS } from '../limits.ts';
import { findCopy, removeCopy } from '../store/moves.ts';

interface MovedWorkspacesOptions {
  readonly pool: Pool;
  readonly engine: Pick<CommitEngine, 'commit' | 'archivedWorkspaces'>;
}

/**
 * Deletes the copies of workspaces that moved away a day ago, and those of moves that were given up: as any deletion of a workspace, with
 * sweeps for what is in it. Several replicas may do it at once, because each step finds what is left.
 */
export function deleteMovedWorkspaces(context: BackgroundContext, options: MovedWorkspacesOptions): BackgroundWork {
  return every(context, {
    name: 'moved-workspaces',
    everyMs: SYNC_LIMITS.archivedWorkspacesEveryMs,
    run: () => deleteExpiredCopies(options),
    failing: 'the copy of a workspace that moved to another cell could not be deleted; it is tried again',
  });
}

export async function deleteExpiredCopies({ pool, engine }: MovedWorkspacesOptions): Promise<RunResult> {
  const { moving } = engine.archivedWorkspaces;
  for (const { workspaceId } of moving.expired) await deleteCopy({ pool, engine }, workspaceId);
  if (moving.expired.length > 0) await engine.archivedWorkspaces.refresh();
  return 'done';
}

async function deleteCopy({ pool, engine }: MovedWorkspacesOptions, workspaceId: string): Promise<void> {
  if (!(await removeCopy(pool, workspaceId))) return;
  const archivedAt = await findCopy(pool, workspaceId);
  if (archivedAt === undefined) return;
  const step = { model: Workspace, archivedAt: new Map([[workspaceId, archivedAt]]) };
  const [outcome] = await engine.commit([ownUnit(syncApi.COPY_CLIENT_ID, { step })]);
  if (!outcome?.ok) throw new Error(`The deletion of a copy was refused: ${outcome?.error}`);
}
