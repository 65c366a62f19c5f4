import { Fault, type Member, type Principal, type Workspace } from '@wts/contracts';
import { isForWorkspace, type Roles } from '@wts/read-model';
import type { WorkspaceReads } from '../store/workspaces.ts';
import type { CellDirectory } from './auth.ts';

/**
 * The workspaces of the caller here; at most one with a credential for one workspace. Of several cells, each lists its own, and says where
 * there may be more: one that is away hides no workspace. Keeps workspaces.list.own-only and workspaces.list.elsewhere.
 */
export async function listWorkspaces(
  { workspaces, cell }: { readonly workspaces: WorkspaceReads; readonly cell: CellDirectory | null },
  principal: Principal,
): Promise<{ readonly workspaces: Workspace[]; readonly elsewhere?: readonly string[] }> {
  const listed = await workspaces.listOf(principal.userId, principal.workspaceId ?? null);
  if (cell === null) return { workspaces: listed };
  const { baseUrl, elsewhere } = await cell.addresses(principal);
  return { workspaces: listed.map((workspace) => ({ ...workspace, baseUrl })), elsewhere };
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
  { roles, workspaces }: { readonly roles: Roles; readonly workspaces: WorkspaceReads },
  principal: Principal,
  id: string,
): Promise<Member[]> {
  await roles.require(principal, id);
  return workspaces.membersOf(id);
}
