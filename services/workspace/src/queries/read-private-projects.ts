import type { Member, PageQuestion, Principal, PrivateProject } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import type { Page, PrivateProjectReads } from '../store/private-projects.ts';

interface Context {
  readonly roles: Roles;
  readonly privateProjects: PrivateProjectReads;
}

/** The place of a private project in the paths. */
export interface ProjectPlace {
  readonly workspaceId: string;
  readonly projectId: string;
}

/** Keeps workspaces.private-projects.list. */
export async function listPrivateProjects(
  { roles, privateProjects }: Context,
  principal: Principal,
  workspaceId: string,
  question: PageQuestion,
): Promise<{ projects: PrivateProject[]; hasMore: boolean }> {
  await roles.requirePermission(principal, workspaceId, 'manage');
  const { items, hasMore } = await pageOf(question, (page) => privateProjects.list(workspaceId, page));
  return { projects: items, hasMore };
}

/** Keeps workspaces.private-projects.list. */
export async function listPrivateProjectMembers(
  context: Context,
  principal: Principal,
  place: ProjectPlace,
  question: PageQuestion,
): Promise<{ members: Member[]; hasMore: boolean }> {
  await requireProject(context, principal, place);
  const { items, hasMore } = await pageOf(question, (page) => context.privateProjects.membersOf(place.projectId, page));
  return { members: items, hasMore };
}

/** Who may not manage the workspace is told so whether there is such a project or not. */
export async function requireProject(
  { roles, privateProjects }: Context,
  principal: Principal,
  { workspaceId, projectId }: ProjectPlace,
): Promise<void> {
  await roles.requirePermission(principal, workspaceId, 'manage');
  if (!(await privateProjects.isThere(workspaceId, projectId))) throw new Fault('not_found');
}

/** One more than the page holds is read: it says whether there is another. */
async function pageOf<T>(
  { after, limit = String(LIMITS.listPageDefault) }: PageQuestion,
  read: (page: Page) => Promise<T[]>,
): Promise<{ items: T[]; hasMore: boolean }> {
  const size = Math.min(Math.max(Number(limit), 1), LIMITS.listPageMax);
  const items = await read({ after: after ?? null, limit: size + 1 });
  return { items: items.slice(0, size), hasMore: items.length > size };
}
