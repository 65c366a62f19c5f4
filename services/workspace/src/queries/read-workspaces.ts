import type { Member, Principal, Workspace } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import { isForWorkspace } from '@wts/read-model';
import type { Context } from '../context.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';

/** The workspaces of the caller; at most one with a credential for one workspace. Keeps workspaces.list.own-only. */
export function listWorkspaces(workspaces: WorkspaceReads, principal: Principal): Promise<Workspace[]> {
  return workspaces.listOf(principal.userId, principal.workspaceId ?? null);
}

/** Keeps workspaces.by-slug.url-key and workspaces.by-slug.outsider-404. */
export async function findWorkspace(
  workspaces: WorkspaceReads,
  principal: Principal,
  slug: string,
): Promise<Workspace> {
  const workspace = await workspaces.bySlug(principal.userId, slug);
  if (workspace === null || !isForWorkspace(principal, workspace.id)) throw new Fault('not_found');
  return workspace;
}

/** Keeps workspaces.members.list. */
export async function listMembers(
  { roles, workspaces }: Pick<Context, 'roles' | 'workspaces'>,
  principal: Principal,
  id: string,
): Promise<Member[]> {
  await roles.require(principal, id);
  return workspaces.membersOf(id);
}
