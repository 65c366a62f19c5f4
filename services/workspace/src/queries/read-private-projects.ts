import { Fault } from '@wts/contracts';
import type { Member, PageQuery, ParamsOf, Principal, PrivateProject, privateProjectApi } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { readPage } from '@wts/service-kit/routes';
import type { PrivateProjectReads } from '../store/private-projects.ts';

interface ProjectContext {
  readonly roles: Roles;
  readonly privateProjects: PrivateProjectReads;
}

export type ProjectParams = ParamsOf<typeof privateProjectApi.addPrivateProjectMember>;

/** Keeps workspaces.private-projects.list. */
export async function listPrivateProjects(
  { roles, privateProjects }: ProjectContext,
  principal: Principal,
  workspaceId: string,
  { after, limit: asked }: PageQuery,
): Promise<{ projects: PrivateProject[]; hasMore: boolean }> {
  await roles.requirePermission(principal, workspaceId, 'manage');
  const { items, hasMore } = await readPage(asked, (limit) =>
    privateProjects.list(workspaceId, { after: after ?? null, limit }),
  );
  return { projects: items, hasMore };
}

/** Keeps workspaces.private-projects.list. */
export async function listPrivateProjectMembers(
  context: ProjectContext,
  principal: Principal,
  params: ProjectParams,
  { after, limit: asked }: PageQuery,
): Promise<{ members: Member[]; hasMore: boolean }> {
  await requireProject(context, principal, params);
  const { items, hasMore } = await readPage(asked, (limit) =>
    context.privateProjects.membersOf(params.projectId, { after: after ?? null, limit }),
  );
  return { members: items, hasMore };
}

/** A caller who may not manage the workspace gets the same answer whether the project exists or not. */
export async function requireProject(
  { roles, privateProjects }: ProjectContext,
  principal: Principal,
  { workspaceId, projectId }: ProjectParams,
): Promise<void> {
  await roles.requirePermission(principal, workspaceId, 'manage');
  if (!(await privateProjects.isPrivateProject(workspaceId, projectId))) throw new Fault('not_found');
}
