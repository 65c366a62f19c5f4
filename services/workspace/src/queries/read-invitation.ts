import { Fault, type memberApi, type ReplyOf } from '@wts/contracts';
import type { Context } from '../context.ts';
import { hashInvitationCode } from '../domain/invitation-code.ts';
import { INVITING_ROLES, UNKNOWN_CODE } from '../domain/redemption.ts';

/** No person has this id: nothing of the invitation depends on who reads it. */
const NO_PERSON = '00000000-0000-0000-0000-000000000000';

/** What a person sees before they accept an invitation. Keeps workspaces.invitations.page. */
export async function readInvitation(
  { invitations, workspaces }: Pick<Context, 'invitations' | 'workspaces'>,
  code: string,
): Promise<ReplyOf<typeof memberApi.internalReadInvitation>['invitation']> {
  const invitation = await invitations.findByCode(hashInvitationCode(code), INVITING_ROLES, NO_PERSON);
  // Its creator is a member, so the workspace is read as they see it.
  const workspace = invitation && (await workspaces.byId(invitation.createdBy, invitation.workspaceId));
  if (invitation === null || workspace === null) throw new Fault('not_found', { message: UNKNOWN_CODE });
  if (invitation.expiresAt <= new Date() || invitation.redeemedAt !== null) throw new Fault('invitation_expired');
  const { workspaceId, email, role, createdBy } = invitation;
  return { workspaceId, workspaceName: workspace.name, email, role, createdBy };
}
