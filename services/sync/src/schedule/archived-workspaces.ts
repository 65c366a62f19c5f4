import { every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';
import type { Pool } from 'pg';
import type { ArchivedWorkspaces } from '../commit/archived-workspaces.ts';
import { listArchivedWorkspaces } from '../store/trash.ts';
import { SYNC_LIMITS } from '../limits.ts';

/**
 * Every replica knows which workspaces are archived, so that a change inside one is refused without a read. The replica that archives
 * or restores one knows it with its commit; the others read it here, within two seconds.
 */
export function followArchivedWorkspaces(
  context: BackgroundContext,
  { pool, archived }: { readonly pool: Pool; readonly archived: ArchivedWorkspaces },
): BackgroundWork {
  return every(context, {
    name: 'archived-workspaces',
    everyMs: SYNC_LIMITS.archivedWorkspacesEveryMs,
    run: () => readArchivedWorkspaces(pool, archived),
    failing:
      'the deleted workspaces could not be read; until then, changes in workspaces that another replica deleted are accepted',
  });
}

export async function readArchivedWorkspaces(pool: Pool, archived: ArchivedWorkspaces): Promise<void> {
  const { generation } = archived;
  archived.replace(await listArchivedWorkspaces(pool), generation);
}
