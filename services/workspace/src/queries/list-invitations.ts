import type { Invitation, Principal } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { mayCreatorInvite } from '../domain/redemption.ts';
import { invitationReply, type InvitationStore } from '../store/invitations.ts';

/** Invitations that could be redeemed now. Keeps workspaces.invitations.list. */
export async function listInvitations(
  { roles, invitations }: { readonly roles: Roles; readonly invitations: InvitationStore },
  principal: Principal,
  workspaceId: string,
): Promise<Invitation[]> {
  await roles.requirePermission(principal, workspaceId, 'invitations.manage');
  return pendingInvitations(invitations, workspaceId);
}

/** Invitations that are not expired or used up, and whose creator may still invite. */
export async function pendingInvitations(invitations: InvitationStore, workspaceId: string): Promise<Invitation[]> {
  const pending = await invitations.listPending(workspaceId);
  return pending.filter(mayCreatorInvite).map(invitationReply);
}
