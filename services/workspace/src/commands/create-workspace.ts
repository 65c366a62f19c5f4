import { Fault, LIMITS } from '@wts/contracts';
import type { NewWorkspace, Principal, Workspace as SeenWorkspace } from '@wts/contracts';
import { Workspace } from '@wts/models';
import { randomUUID } from 'node:crypto';
import { requireUnrestricted } from './require-unrestricted.ts';
import { seenWorkspace } from '../store/workspaces.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';
import type { CommitUnitSender, Trace } from './commit-unit.ts';
import { recordOf } from './commit-unit.ts';

/**
 * Makes a workspace with its first owner, in one unit: there is no moment at which it has none. Of two who want the same
 * urlKey at once, the unique index of the sync service lets one through; the other is told `slug_taken`. Whoever was told
 * that nobody knows (503) and asks again with their `Idempotency-Key` asks under the same id, and is not told that their
 * own urlKey is taken. Keeps workspaces.create.answer and workspaces.create.taken.
 */
export async function createWorkspace(
  { workspaces, commitUnit }: { readonly workspaces: WorkspaceReads; readonly commitUnit: CommitUnitSender },
  principal: Principal,
  { name, urlKey, logoUrl }: NewWorkspace,
  trace: Trace,
): Promise<SeenWorkspace> {
  requireUnrestricted(principal);
  if ((await workspaces.countOwnedBy(principal.userId)) >= LIMITS.workspacesOwnedMax) {
    throw new Fault('conflict', { message: `A person can own at most ${LIMITS.workspacesOwnedMax} workspaces.` });
  }
  const id = trace.effectId ?? randomUUID();
  const reply = await commitUnit(
    {
      principal,
      authority: 'service',
      txId: `create-workspace:${id}`,
      mutations: [
        { modelName: 'Workspace', modelId: id, action: 'INSERT', payload: { name, urlKey, logoUrl: logoUrl ?? null } },
        {
          modelName: 'WorkspaceMember',
          modelId: randomUUID(),
          action: 'INSERT',
          payload: { workspaceId: id, userId: principal.userId, role: 'owner' },
        },
      ],
    },
    trace,
  );
  return seenWorkspace(recordOf(reply, Workspace), 'owner');
}
