import type { Invitation, NewInvitation, Principal } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { createInvitationCode } from '../domain/invitation-code.ts';
import type { InvitationStore } from '../store/invitations.ts';
import { newIds, type Trace } from './commit-unit.ts';

interface Context {
  readonly roles: Roles;
  readonly invitations: InvitationStore;
}

/** An expired code is answered as expired for this long, then as unknown. */
const EXPIRED_KEPT_DAYS = 90;

/** Makes an invitation and shows its code this once. Keeps workspaces.invitations.defaults, workspaces.invitations.code-once. */
export async function createInvitation(
  { roles, invitations }: Context,
  principal: Principal,
  workspaceId: string,
  wanted: NewInvitation & { readonly trace: Trace },
): Promise<Invitation & { readonly code: string }> {
  const { email, role = 'member', expiresInDays = LIMITS.invitationDaysDefault, trace } = wanted;
  await roles.requirePermission(principal, workspaceId, 'invitations.manage');
  await invitations.deleteExpired(workspaceId, EXPIRED_KEPT_DAYS);
  const { code, hash } = createInvitationCode();
  const asked = { workspaceId, email: email ?? null, role, codeHash: hash, createdBy: principal.userId, expiresInDays };
  let made: Invitation | null = null;
  for (const id of newIds(trace)) made ??= await invitations.insert({ id, ...asked }, LIMITS.invitationsPendingMax);
  if (made === null) {
    const message = `A workspace can have at most ${LIMITS.invitationsPendingMax} pending invitations; delete some first.`;
    throw new Fault('conflict', { message });
  }
  return { ...made, code };
}

/** From then on its code is unknown. Keeps workspaces.invitations.delete. */
export async function deleteInvitation(
  { roles, invitations }: Context,
  principal: Principal,
  { workspaceId, invitationId }: { readonly workspaceId: string; readonly invitationId: string },
): Promise<void> {
  await roles.requirePermission(principal, workspaceId, 'invitations.manage');
  if (!(await invitations.delete(workspaceId, invitationId))) throw new Fault('not_found');
}
