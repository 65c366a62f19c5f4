import { can } from '@wts/access';
import { Fault, type OpenInvitation, type Principal } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { pendingInvitations } from '../queries/list-invitations.ts';

/**
 * Removes a member, or lets the caller leave. The commit checks, under lock and for every surface, whether the caller may
 * and whether an owner remains. Open sockets read from the log which groups they lost; the revocation clears caches. Keeps
 * workspaces.members.remove and workspaces.members.leave.
 *
 * Returns the invitations that are still open, to a caller who may delete them: the removed account cannot redeem them, but
 * the same human may have another account. Keeps workspaces.members.remove-names-codes.
 */
export async function removeMember(
  context: Pick<Context, 'roles' | 'workspaces' | 'invitations' | 'commitUnit' | 'revoke'>,
  principal: Principal,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
): Promise<OpenInvitation[]> {
  const role = await context.roles.require(principal, workspaceId);
  const modelId = await context.workspaces.membershipIdOf(userId, workspaceId);
  if (modelId === null) throw new Fault('not_found');
  await context.commitUnit({
    principal,
    authority: 'caller',
    txId: `remove-member:${randomUUID()}`,
    mutations: [{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }],
  });
  await context.revoke({ kind: 'membership', userId: userId.toLowerCase(), workspaceId: workspaceId.toLowerCase() });
  const isLeaving = userId.toLowerCase() === principal.userId;
  if (isLeaving || !can(role, 'invitations.manage')) return [];
  const open = await pendingInvitations(context.invitations, workspaceId);
  return open.map(({ id, role: invitedRole, email, expiresAt }) => ({ id, role: invitedRole, email, expiresAt }));
}
