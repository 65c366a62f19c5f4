import { Fault, LIMITS, type Invitation, type NewInvitation, type Principal } from '@wts/contracts';
import type { Context } from '../context.ts';
import { createInvitationCode } from '../domain/invitation-code.ts';
import { newIds, type EffectSource } from '@wts/service-kit/routes';

type InvitationContext = Pick<Context, 'roles' | 'invitations'>;
type CreationContext = InvitationContext & Pick<Context, 'workspaces' | 'mailInvitation'>;

/** An expired code gets 410 for this long, then 404. */
const EXPIRED_KEPT_DAYS = 90;

/** Creates an invitation and returns its code, which is shown only here and in the mail to its address. Keeps workspaces.invitations.defaults, workspaces.invitations.code-once. */
export async function createInvitation(
  { roles, invitations, workspaces, mailInvitation }: CreationContext,
  principal: Principal,
  workspaceId: string,
  { email, role = 'member', expiresInDays = LIMITS.invitationDaysDefault, effectId }: NewInvitation & EffectSource,
): Promise<Invitation & { readonly code: string }> {
  await roles.requirePermission(principal, workspaceId, 'invitations.manage');
  await roles.refuseDeleted(workspaceId);
  const workspace = await workspaces.byId(principal.userId, workspaceId);
  await invitations.deleteExpired(workspaceId, EXPIRED_KEPT_DAYS);
  const { code, hash } = createInvitationCode();
  const row = { workspaceId, email: email ?? null, role, codeHash: hash, createdBy: principal.userId, expiresInDays };
  let made: Invitation | null = null;
  for (const id of newIds({ effectId }))
    made ??= await invitations.insert({ id, ...row }, LIMITS.invitationsPendingMax);
  if (made === null) {
    await roles.refuseMoving(workspaceId);
    const message = `A workspace can have at most ${LIMITS.invitationsPendingMax} pending invitations; delete some first.`;
    throw new Fault('conflict', { message });
  }
  await mailInvitation({ ...made, code }, workspace?.name ?? '');
  return { ...made, code };
}

/** The code of a deleted invitation gets 404. Keeps workspaces.invitations.delete. */
export async function deleteInvitation(
  { roles, invitations }: InvitationContext,
  principal: Principal,
  { workspaceId, invitationId }: { readonly workspaceId: string; readonly invitationId: string },
): Promise<void> {
  await roles.requirePermission(principal, workspaceId, 'invitations.manage');
  if (await invitations.delete(workspaceId, invitationId)) return;
  await roles.refuseMoving(workspaceId);
  throw new Fault('not_found');
}
