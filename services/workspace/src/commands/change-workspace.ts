import { Fault, type Principal, type Workspace } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';

interface Change {
  readonly action: 'ARCHIVE' | 'UNARCHIVE';
  readonly payload: { readonly urlKey?: string };
}

/** Deletes or restores a workspace on behalf of the caller: the commit checks, under lock, the role and the confirmation. */
export async function changeWorkspace(
  { roles, workspaces, commitUnit }: Pick<Context, 'roles' | 'workspaces' | 'commitUnit'>,
  principal: Principal,
  modelId: string,
  { action, payload }: Change,
): Promise<Workspace> {
  await roles.require(principal, modelId);
  await commitUnit({
    principal,
    authority: 'caller',
    txId: `${action.toLowerCase()}-workspace:${randomUUID()}`,
    mutations: [{ modelName: 'Workspace', modelId, action, payload }],
  });
  const workspace = await workspaces.byId(principal.userId, modelId);
  if (workspace === null) throw new Fault('not_found');
  return workspace;
}
