import { every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';
import type { ArchivedWorkspaces } from '../decision/archived-workspaces.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** Lets a replica know the workspaces that other replicas deleted or began to move, so that their next change there needs no second try. */
export function followArchivedWorkspaces(context: BackgroundContext, archived: ArchivedWorkspaces): BackgroundWork {
  return every(context, {
    name: 'archived-workspaces',
    everyMs: SYNC_LIMITS.archivedWorkspacesEveryMs,
    run: () => archived.refresh(),
    failing:
      'the deleted workspaces could not be read; until then, each change in one that another replica deleted is tried twice',
  });
}
