import { Fault, LIMITS } from '@wts/contracts';
import type { Member, PageQuery, ParamsOf, Principal, PrivateProject, privateProjectApi } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import type { Page, PrivateProjectReads } from '../store/private-projects.ts';

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
  query: PageQuery,
): Promise<{ projects: PrivateProject[]; hasMore: boolean }> {
  await roles.requirePermission(principal, workspaceId, 'manage');
  const { items, hasMore } = await pageOf(query, (page) => privateProjects.list(workspaceId, page));
  return { projects: items, hasMore };
}

/** Keeps workspaces.private-projects.list. */
export async function listPrivateProjectMembers(
  context: ProjectContext,
  principal: Principal,
  params: ProjectParams,
  query: PageQuery,
): Promise<{ members: Member[]; hasMore: boolean }> {
  await requireProject(context, principal, params);
  const { items, hasMore } = await pageOf(query, (page) => context.privateProjects.membersOf(params.projectId, page));
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

/** Reads one item more than the page holds; `hasMore` is whether it exists. */
async function pageOf<T>(
  { after, limit = LIMITS.listPageDefault }: PageQuery,
  read: (page: Page) => Promise<T[]>,
): Promise<{ items: T[]; hasMore: boolean }> {
  const size = Math.min(Math.max(limit, 1), LIMITS.listPageMax);
  const items = await read({ after: after ?? null, limit: size + 1 });
  return { items: items.slice(0, size), hasMore: items.length > size };
}
