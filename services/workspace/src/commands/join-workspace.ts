import { comparableAddress, requireUnrestricted } from '@wts/access';
import { Fault, type Principal, type Workspace } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { hashInvitationCode } from '../domain/invitation-code.ts';
import type { RedemptionVerdict } from '../domain/redemption.ts';
import { INVITING_ROLES, decideRedemption, LOST_SINCE, UNKNOWN_CODE } from '../domain/redemption.ts';
import type { PresentedInvitation } from '../store/invitations.ts';
import { countWrongCodes } from './count-wrong-codes.ts';

type JoinContext = Pick<
  Context,
  'roles' | 'workspaces' | 'invitations' | 'addressesOf' | 'checkJoining' | 'commitUnit'
>;
type CountedJoinContext = JoinContext & Pick<Context, 'wrongCodes' | 'wrongCodesPerMinuteMax'>;

interface Presented {
  readonly code: string;
  /** An address of the person that no provider verified, for a caller who says that the code is enough. */
  readonly address?: string | null;
}

/**
 * Makes the person a member by a code. Two services store the invitation and the membership, so an invitation for one use is claimed before
 * the membership is committed and marked as used after it: only one of several parallel attempts succeeds, and only the same
 * person can finish an attempt that broke off in between. Keeps workspaces.join.code and workspaces.join.twice.
 */
export async function joinWorkspace(
  context: CountedJoinContext,
  principal: Principal,
  presented: Presented,
): Promise<Workspace> {
  requireUnrestricted(principal);
  return countWrongCodes(context, principal, () => joinByCode(context, principal, presented));
}

async function joinByCode(
  context: JoinContext,
  principal: Principal,
  { code, address = null }: Presented,
): Promise<Workspace> {
  const { userId } = principal;
  const invitation = await context.invitations.findByCode(hashInvitationCode(code), INVITING_ROLES, userId);
  const isAddressed = (invitation?.email ?? null) !== null;
  const verified = isAddressed ? await context.addressesOf(userId) : [];
  const addresses = address === null ? verified : [...verified, address];
  // Read after the invitation: when a membership ends in between, it is missing here, or the commit below has a used txId.
  const isMember = invitation !== null && (await isMemberOf(context, userId, invitation));
  const hasLostSince = invitation?.hasLostSince ?? false;
  const verdict = decideRedemption(invitation, { userId, addresses, isMember, hasLostSince }, new Date());
  if (verdict.outcome === 'refused') throw refusalOf(verdict);
  // Without an invitation the verdict is a refusal.
  const redeemed = invitation as PresentedInvitation;
  if (verdict.outcome === 'join' || redeemed.claimedBy === userId) {
    // Asked before the commit, so that a failure of auth leaves no member whose other invitations stay open.
    const closed = redeemed.email === null ? await context.addressesOf(userId) : [redeemed.email];
    if (verdict.outcome === 'join') await addMember(context, principal, redeemed);
    await closeOfAddresses(context.invitations, userId, redeemed, closed);
  }
  const workspace = await context.workspaces.byId(userId, redeemed.workspaceId);
  // They were removed since they joined.
  if (workspace === null) throw new Fault('invitation_expired', { message: LOST_SINCE });
  return workspace;
}

/** Refuses to repeat the reply of an earlier join to a person who was removed since. Keeps workspaces.join.replay. */
export async function confirmJoined(
  { workspaces }: Pick<Context, 'workspaces'>,
  { userId }: Principal,
  workspaceId: string,
): Promise<void> {
  if ((await workspaces.byId(userId, workspaceId)) === null)
    throw new Fault('invitation_expired', { message: LOST_SINCE });
}

/**
 * The txId holds how many memberships of the person have ended, so that one commit succeeds after each end. A request that
 * was checked before a removal and is committed after it repeats a used txId and changes nothing. Otherwise a removed
 * person could return by a request that was in progress.
 */
async function addMember(context: JoinContext, principal: Principal, invitation: PresentedInvitation): Promise<void> {
  const { userId } = principal;
  const { workspaceId, role, endedMemberships } = invitation;
  const isForOneUse = invitation.email !== null;
  await context.checkJoining(userId, workspaceId);
  if (isForOneUse && !(await context.invitations.claim(invitation.id, userId))) throw new Fault('invitation_expired');
  const payload = { workspaceId, userId, role };
  try {
    await context.commitUnit({
      principal,
      authority: 'service',
      txId: `join-workspace:${workspaceId}:${endedMemberships}`,
      mutations: [{ modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload }],
    });
  } catch (failure) {
    // A parallel request of the same person succeeded.
    const isDone =
      failure instanceof Fault && failure.code === 'conflict' && (await isMemberOf(context, userId, invitation));
    if (!isDone) {
      if (isForOneUse && isFinal(failure)) await context.invitations.release(invitation.id, userId);
      throw failure;
    }
  }
}

/**
 * With an invitation to an address all others to it end, and with one for everybody those to the addresses of the person, who does not need
 * them any more. Keeps workspaces.join.closes.
 */
async function closeOfAddresses(
  invitations: JoinContext['invitations'],
  userId: string,
  { id, workspaceId, email }: PresentedInvitation,
  addresses: readonly string[],
): Promise<void> {
  const own = addresses.map(comparableAddress);
  const others = (await invitations.listPending(workspaceId)).filter(
    (other) => other.email !== null && own.includes(comparableAddress(other.email)),
  );
  await invitations.markRedeemed([...(email === null ? [] : [id]), ...others.map((other) => other.id)], userId);
}

/** One text for codes that never existed, were deleted, or whose creator may no longer invite. */
function refusalOf({ code, message }: Extract<RedemptionVerdict, { outcome: 'refused' }>): Fault {
  const text = code === 'not_found' ? UNKNOWN_CODE : message;
  return new Fault(code, text === undefined ? {} : { message: text });
}

async function isMemberOf(
  context: JoinContext,
  userId: string,
  { workspaceId }: PresentedInvitation,
): Promise<boolean> {
  return (await context.roles.of(userId, workspaceId)) !== null;
}

/** A refusal certainly changed nothing; after any other failure the membership may exist, so the claim stays. */
function isFinal(failure: unknown): boolean {
  return failure instanceof Fault && failure.status < 500;
}
