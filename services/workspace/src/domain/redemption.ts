import { can } from '@wts/access';
import { ROLES, type ErrorCode, type InvitableRole, type Role } from '@wts/contracts';
import { sameAddress } from './profile.ts';

export interface StoredInvitation {
  readonly id: string;
  readonly workspaceId: string;
  /** Null: for anyone, as often as wanted until it expires. */
  readonly email: string | null;
  readonly role: InvitableRole;
  readonly createdBy: string;
  /** The present role of who made it; null when they left. */
  readonly creatorRole: Role | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Who came first to an invitation for one use. */
  readonly claimedBy: string | null;
  readonly redeemedAt: Date | null;
}

export interface Redeemer {
  readonly userId: string;
  /** Addresses their identity providers vouch for. */
  readonly addresses: readonly string[];
  readonly isMember: boolean;
  /** They were removed, or their role was lowered, after the invitation was made. */
  readonly hasLostSince: boolean;
}

export type Judgement =
  | { readonly outcome: 'join' | 'already_member' }
  | { readonly outcome: 'refused'; readonly code: ErrorCode; readonly message?: string };

export const LOST_SINCE =
  'You were removed from the workspace, or your role was lowered, after this invitation was made. Ask for a new one.';

/**
 * What becomes of a code in somebody's hands. The order is the order in which the answers tell least: a wrong person
 * learns that a code exists (they hold it), never whether it was used. Keeps workspaces.join.twice,
 * workspaces.join.unknown-code, workspaces.join.expired, workspaces.join.after-loss and workspaces.join.wrong-address.
 */
export function judgeRedemption(invitation: StoredInvitation | null, redeemer: Redeemer, now: Date): Judgement {
  if (invitation === null || !isBacked(invitation)) return { outcome: 'refused', code: 'not_found' };
  if (invitation.expiresAt <= now) return { outcome: 'refused', code: 'invitation_expired' };
  const { email } = invitation;
  if (email !== null && !redeemer.addresses.some((address) => sameAddress(address, email))) {
    return { outcome: 'refused', code: 'wrong_address' };
  }
  if (redeemer.isMember) return { outcome: 'already_member' };
  // Otherwise a code would give back what was taken. Who left of their own will was taken nothing.
  if (redeemer.hasLostSince) return { outcome: 'refused', code: 'invitation_expired', message: LOST_SINCE };
  // A claim without a redemption is an attempt that was cut off: the same person may go on with it, nobody else.
  const isSpent = invitation.redeemedAt !== null || ![null, redeemer.userId].includes(invitation.claimedBy);
  return isSpent ? { outcome: 'refused', code: 'invitation_expired' } : { outcome: 'join' };
}

export const BACKING_ROLES: readonly Role[] = ROLES.filter((role) => can(role, 'invitations.manage'));

/**
 * An invitation speaks with the authority of who made it. When that is gone, so is the invitation: otherwise an admin
 * could leave a context open for themselves before being removed.
 */
export function isBacked({ creatorRole }: Pick<StoredInvitation, 'creatorRole'>): boolean {
  return creatorRole !== null && BACKING_ROLES.includes(creatorRole);
}
