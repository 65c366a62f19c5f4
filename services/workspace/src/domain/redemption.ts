import { can, comparableAddress } from '@wts/access';
import { ROLES, type ErrorCode, type InvitableRole, type Role } from '@wts/contracts';

export interface StoredInvitation {
  readonly id: string;
  readonly workspaceId: string;
  /** Null: any person may redeem it, any number of times, until it expires. */
  readonly email: string | null;
  readonly role: InvitableRole;
  readonly createdBy: string;
  /** The current role of its creator; null when they left. */
  readonly creatorRole: Role | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The person who claimed an invitation for one use. */
  readonly claimedBy: string | null;
  readonly redeemedAt: Date | null;
}

export interface Redeemer {
  readonly userId: string;
  /** Addresses that their identity providers verified. */
  readonly addresses: readonly string[];
  readonly isMember: boolean;
  /** They were removed, or their role was lowered, after the invitation was made. */
  readonly hasLostSince: boolean;
}

export type RedemptionVerdict =
  | { readonly outcome: 'join' | 'already_member' }
  | { readonly outcome: 'refused'; readonly code: ErrorCode; readonly message?: string };

export const UNKNOWN_CODE =
  'No invitation has this code, or it was deleted. Check the code, or ask for a new invitation.';
export const LOST_SINCE =
  'You were removed from the workspace, or your role was lowered, after this invitation was made. Ask for a new one.';

/**
 * Decides whether a person may redeem an invitation. The order of the checks reveals least: a person with another address
 * learns that the code exists, but not whether it was used. Keeps workspaces.join.twice,
 * workspaces.join.unknown-code, workspaces.join.expired, workspaces.join.after-loss and workspaces.join.wrong-address.
 */
export function decideRedemption(
  invitation: StoredInvitation | null,
  redeemer: Redeemer,
  now: Date,
): RedemptionVerdict {
  if (invitation === null || !mayCreatorInvite(invitation)) return { outcome: 'refused', code: 'not_found' };
  if (invitation.expiresAt <= now) return { outcome: 'refused', code: 'invitation_expired' };
  const { email } = invitation;
  if (
    email !== null &&
    !redeemer.addresses.some((address) => comparableAddress(address) === comparableAddress(email))
  ) {
    return { outcome: 'refused', code: 'wrong_address' };
  }
  if (redeemer.isMember) return { outcome: 'already_member' };
  // Otherwise a code would undo a removal. A person who left by themselves was not removed.
  if (redeemer.hasLostSince) return { outcome: 'refused', code: 'invitation_expired', message: LOST_SINCE };
  // A claim without a redemption is an attempt that broke off: only the same person may continue it.
  const isSpent = invitation.redeemedAt !== null || ![null, redeemer.userId].includes(invitation.claimedBy);
  return isSpent ? { outcome: 'refused', code: 'invitation_expired' } : { outcome: 'join' };
}

export const INVITING_ROLES: readonly Role[] = ROLES.filter((role) => can(role, 'invitations.manage'));

/**
 * An invitation is valid only while its creator may invite: otherwise an admin could create one, be removed, and return by
 * it with another account.
 */
export function mayCreatorInvite({ creatorRole }: Pick<StoredInvitation, 'creatorRole'>): boolean {
  return creatorRole !== null && INVITING_ROLES.includes(creatorRole);
}
