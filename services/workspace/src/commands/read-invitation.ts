import { Fault, type memberApi, type Principal, type ReplyOf } from '@wts/contracts';
import type { Context } from '../context.ts';
import { hashInvitationCode } from '../domain/invitation-code.ts';
import { INVITING_ROLES, UNKNOWN_CODE } from '../domain/redemption.ts';
import { countWrongCodes } from './count-wrong-codes.ts';

type ShownInvitation = ReplyOf<typeof memberApi.internalReadInvitation>['invitation'];

/** No person has this id: nothing of the invitation depends on who reads it. */
const NO_PERSON = '00000000-0000-0000-0000-000000000000';

/** What a person sees before they accept an invitation. Keeps workspaces.invitations.page. */
export async function readInvitation(
  context: Pick<Context, 'invitations' | 'workspaces' | 'wrongCodes' | 'wrongCodesPerMinuteMax'>,
  principal: Principal,
  code: string,
): Promise<ShownInvitation> {
  return countWrongCodes(context, principal, () => findInvitation(context, code));
}

async function findInvitation(
  { invitations, workspaces }: Pick<Context, 'invitations' | 'workspaces'>,
  code: string,
): Promise<ShownInvitation> {
  const invitation = await invitations.findByCode(hashInvitationCode(code), INVITING_ROLES, NO_PERSON);
  // Its creator is a member, so the workspace is read as they see it.
  const workspace = invitation && (await workspaces.byId(invitation.createdBy, invitation.workspaceId));
  if (invitation === null || workspace === null) throw new Fault('not_found', { message: UNKNOWN_CODE });
  if (invitation.expiresAt <= new Date() || invitation.redeemedAt !== null) throw new Fault('invitation_expired');
  const { workspaceId, email, role, createdBy } = invitation;
  return { workspaceId, workspaceName: workspace.name, email, role, createdBy };
}
