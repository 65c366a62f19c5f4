import { can } from '@wts/access';
import type { OpenInvitation, Principal, Revocation } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { randomUUID } from 'node:crypto';
import { pendingIn } from '../queries/list-invitations.ts';
import type { InvitationStore } from '../store/invitations.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';
import type { CommitUnitSender, Trace } from './commit-unit.ts';

/**
 * Removes a member, or lets the caller leave. Who may, and that an owner stays, is judged by the commit, under lock and
 * for every surface alike. The log tells open sockets which groups they lost; the revocation tells caches. Keeps
 * workspaces.members.remove and workspaces.members.leave.
 *
 * Gives the invitations that stay open, to a caller who may end them: codes made before are worth nothing to the person,
 * but the one behind them may have another account. Keeps workspaces.members.remove-names-codes.
 */
export async function removeMember(
  context: {
    readonly roles: Roles;
    readonly workspaces: WorkspaceReads;
    readonly invitations: InvitationStore;
    readonly commitUnit: CommitUnitSender;
    readonly revoke: (revocation: Revocation) => Promise<void>;
  },
  principal: Principal,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  trace: Trace,
): Promise<OpenInvitation[]> {
  const role = await context.roles.require(principal, workspaceId);
  const modelId = await context.workspaces.membershipIdOf(userId, workspaceId);
  if (modelId === null) throw new Fault('not_found');
  await context.commitUnit(
    {
      principal,
      authority: 'caller',
      txId: `remove-member:${randomUUID()}`,
      mutations: [{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }],
    },
    trace,
  );
  await context.revoke({ kind: 'membership', userId: userId.toLowerCase(), workspaceId: workspaceId.toLowerCase() });
  const isLeaving = userId.toLowerCase() === principal.userId;
  if (isLeaving || !can(role, 'invitations.manage')) return [];
  const open = await pendingIn(context.invitations, workspaceId);
  return open.map(({ id, role: grants, email, expiresAt }) => ({ id, role: grants, email, expiresAt }));
}
