import { requireUnrestricted } from '@wts/access';
import { Fault, LIMITS, type NewWorkspace, type Principal, type Workspace as WorkspaceReply } from '@wts/contracts';
import { Workspace, type RecordOf } from '@wts/models';
import type { EffectSource } from '@wts/service-kit/routes';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { workspaceReply } from '../store/workspaces.ts';

/**
 * Creates a workspace and its first owner in one unit, so that no workspace is ever without an owner. When two callers want
 * the same urlKey, the unique index of the sync service accepts one, and of several cells the directory; the other gets `slug_taken`. A
 * retry after 503 with the same `Idempotency-Key` uses the same id, so the caller does not get `slug_taken` for their own workspace. Keeps
 * workspaces.create.answer and workspaces.create.taken.
 */
export async function createWorkspace(
  { roles, cell, commitUnit }: Pick<Context, 'roles' | 'cell' | 'commitUnit'>,
  principal: Principal,
  { name, urlKey, logoUrl, timeZone }: NewWorkspace,
  { effectId: id = randomUUID() }: EffectSource,
): Promise<WorkspaceReply> {
  requireUnrestricted(principal);
  if ((await roles.count(principal.userId, 'owner')) >= LIMITS.workspacesOwnedMax)
    throw new Fault('conflict', { message: `A person can own at most ${LIMITS.workspacesOwnedMax} workspaces.` });
  await cell?.claim({ workspaceId: id, urlKey, userId: principal.userId });
  const reply = await commitUnit({
    principal,
    authority: 'service',
    txId: `create-workspace:${id}`,
    mutations: [
      {
        modelName: 'Workspace',
        modelId: id,
        action: 'INSERT',
        payload: { name, urlKey, logoUrl: logoUrl ?? null, ...(timeZone === undefined ? {} : { timeZone }) },
      },
      {
        modelName: 'WorkspaceMember',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId: id, userId: principal.userId, role: 'owner' },
      },
    ],
  });
  const made = reply.mutations.find(({ modelName }) => modelName === Workspace.name);
  if (made === undefined) throw new Error('The commit gave back no workspace');
  return workspaceReply(made.record as RecordOf<typeof Workspace>, 'owner');
}
