import type { Member, Principal } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { randomUUID } from 'node:crypto';
import type { ProjectPlace } from '../queries/read-private-projects.ts';
import { requireProject } from '../queries/read-private-projects.ts';
import type { PrivateProjectReads } from '../store/private-projects.ts';
import type { CommitUnitSender, Trace } from './commit-unit.ts';

interface Context {
  readonly roles: Roles;
  readonly privateProjects: PrivateProjectReads;
  readonly commitUnit: CommitUnitSender;
}

/**
 * Lets a member of the workspace into a private project, on behalf of the caller: the commit judges it once more, under
 * lock. Who is in already stays in. Keeps workspaces.private-projects.members.
 */
export async function addPrivateProjectMember(
  context: Context,
  principal: Principal,
  { userId, ...place }: ProjectPlace & { readonly userId: string },
  trace: Trace,
): Promise<Member> {
  await requireProject(context, principal, place);
  const { projectId } = place;
  const known = await context.privateProjects.memberOf(projectId, userId);
  if (known !== null) return known;
  const modelId = randomUUID();
  const txId = `add-project-member:${modelId}`;
  const payload = { projectId, userId };
  try {
    await context.commitUnit(
      {
        principal,
        authority: 'caller',
        txId,
        mutations: [{ modelName: 'ProjectMember', modelId, action: 'INSERT', payload }],
      },
      trace,
    );
  } catch (failure) {
    // Another request was faster: they are in, which is what was asked for.
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
  context: Context,
  principal: Principal,
  { userId, ...place }: ProjectPlace & { readonly userId: string },
  trace: Trace,
): Promise<void> {
  await requireProject(context, principal, place);
  const modelId = await context.privateProjects.membershipIdOf(place.projectId, userId);
  if (modelId === null) throw new Fault('not_found');
  await context.commitUnit(
    {
      principal,
      authority: 'caller',
      txId: `remove-project-member:${randomUUID()}`,
      mutations: [{ modelName: 'ProjectMember', modelId, action: 'DELETE', payload: {} }],
    },
    trace,
  );
}
