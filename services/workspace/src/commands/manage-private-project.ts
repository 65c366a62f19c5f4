import { Fault, type Member, type Principal } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { requireProject, type ProjectParams } from '../queries/read-private-projects.ts';

type ProjectContext = Pick<Context, 'roles' | 'privateProjects' | 'commitUnit'>;

/**
 * Adds a member of the workspace to a private project, on behalf of the caller; the commit checks the permission again,
 * under lock. A person who is a member already stays one. Keeps workspaces.private-projects.members.
 */
export async function addPrivateProjectMember(
  context: ProjectContext,
  principal: Principal,
  { userId, ...params }: ProjectParams & { readonly userId: string },
): Promise<Member> {
  await requireProject(context, principal, params);
  const { projectId } = params;
  const existing = await context.privateProjects.memberOf(projectId, userId);
  if (existing !== null) return existing;
  const modelId = randomUUID();
  const txId = `add-project-member:${modelId}`;
  const payload = { projectId, userId };
  try {
    await context.commitUnit({
      principal,
      authority: 'caller',
      txId,
      mutations: [{ modelName: 'ProjectMember', modelId, action: 'INSERT', payload }],
    });
  } catch (failure) {
    // A parallel request added them.
    const isConflict = failure instanceof Fault && failure.code === 'conflict';
    if (!isConflict || (await context.privateProjects.memberOf(projectId, userId)) === null) throw failure;
  }
  const member = await context.privateProjects.memberOf(projectId, userId);
  if (member === null)
    throw new Fault('conflict', { message: 'This person was removed from the project in the meantime.' });
  return member;
}

/** Keeps workspaces.private-projects.members. */
export async function removePrivateProjectMember(
  context: ProjectContext,
  principal: Principal,
  { userId, ...params }: ProjectParams & { readonly userId: string },
): Promise<void> {
  await requireProject(context, principal, params);
  const modelId = await context.privateProjects.membershipIdOf(params.projectId, userId);
  if (modelId === null) throw new Fault('not_found');
  await context.commitUnit({
    principal,
    authority: 'caller',
    txId: `remove-project-member:${randomUUID()}`,
    mutations: [{ modelName: 'ProjectMember', modelId, action: 'DELETE', payload: {} }],
  });
}
