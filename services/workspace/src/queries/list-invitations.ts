import type { Invitation, Principal } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { isBacked } from '../domain/redemption.ts';
import type { InvitationStore } from '../store/invitations.ts';
import { shownInvitation } from '../store/invitations.ts';

/** Invitations that could be redeemed now. Keeps workspaces.invitations.list. */
export async function listInvitations(
  { roles, invitations }: { readonly roles: Roles; readonly invitations: InvitationStore },
  principal: Principal,
  workspaceId: string,
): Promise<Invitation[]> {
  await roles.requirePermission(principal, workspaceId, 'invitations.manage');
  return pendingIn(invitations, workspaceId);
}

/** Those that have not expired, were not used up, and were made by a person who may still invite. */
export async function pendingIn(invitations: InvitationStore, workspaceId: string): Promise<Invitation[]> {
  const pending = await invitations.listPending(workspaceId);
  return pending.filter(isBacked).map(shownInvitation);
}
