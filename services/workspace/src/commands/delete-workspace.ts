import { Fault, type Principal, type Workspace } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';

type WorkspaceContext = Pick<Context, 'roles' | 'workspaces' | 'commitUnit'>;

/** Archives a workspace on behalf of the caller: the commit checks, under lock, the role and the confirmation. */
export async function deleteWorkspace(
  context: WorkspaceContext,
  principal: Principal,
  { workspaceId, urlKey }: { readonly workspaceId: string; readonly urlKey: string },
): Promise<Workspace> {
  return change(context, principal, { workspaceId, action: 'ARCHIVE', payload: { urlKey } });
}

export async function restoreWorkspace(
  context: WorkspaceContext,
  principal: Principal,
  { workspaceId }: { readonly workspaceId: string },
): Promise<Workspace> {
  return change(context, principal, { workspaceId, action: 'UNARCHIVE', payload: {} });
}

async function change(
  { roles, workspaces, commitUnit }: WorkspaceContext,
  principal: Principal,
  given: {
    readonly workspaceId: string;
    readonly action: 'ARCHIVE' | 'UNARCHIVE';
    readonly payload: Readonly<Record<string, string>>;
  },
): Promise<Workspace> {
  const { workspaceId: modelId, action, payload } = given;
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
