import type { Principal, Workspace } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import type { Roles } from '@wts/read-model';
import { randomUUID } from 'node:crypto';
import { hashInvitationCode } from '../domain/invitation-code.ts';
import type { Judgement } from '../domain/redemption.ts';
import { BACKING_ROLES, judgeRedemption, LOST_SINCE } from '../domain/redemption.ts';
import { requireUnrestricted } from './require-unrestricted.ts';
import type { IdentityStore } from '../store/identities.ts';
import type { HeldInvitation, InvitationStore } from '../store/invitations.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';
import type { CommitUnitSender, Trace } from './commit-unit.ts';

interface Context {
  readonly roles: Roles;
  readonly workspaces: WorkspaceReads;
  readonly invitations: InvitationStore;
  readonly identities: IdentityStore;
  readonly commitUnit: CommitUnitSender;
}

/**
 * Redeems a code. The invitation and the membership live in two services, so an invitation for one use is claimed before
 * the membership is committed and marked as used after it: of many who try at once one gets through, and an attempt that
 * was cut off in between can be finished by the same person only. Keeps workspaces.join.code.
 * Keeps workspaces.join.twice.
 */
export async function joinWorkspace(
  context: Context,
  principal: Principal,
  code: string,
  trace: Trace,
): Promise<Workspace> {
  requireUnrestricted(principal);
  const { userId } = principal;
  const [invitation, addresses] = await Promise.all([
    context.invitations.findByCode(hashInvitationCode(code), BACKING_ROLES, userId),
    context.identities.addressesOf(userId),
  ]);
  // After the invitation was read: a membership that ends in between is seen here, or makes the commit below a repetition.
  const isMember = invitation !== null && (await isIn(context, userId, invitation));
  const hasLostSince = invitation?.hasLostSince ?? false;
  const judgement = judgeRedemption(invitation, { userId, addresses, isMember, hasLostSince }, new Date());
  if (judgement.outcome === 'refused') throw refusalOf(judgement);
  // A judgement other than a refusal needs an invitation.
  const redeemed = invitation as HeldInvitation;
  if (judgement.outcome === 'join') await admit(context, principal, redeemed, trace);
  else if (redeemed.claimedBy === userId) await context.invitations.markRedeemed(redeemed.id);
  const workspace = await context.workspaces.byId(userId, redeemed.workspaceId);
  // They were let in, and out again meanwhile.
  if (workspace === null) throw new Fault('invitation_expired', { message: LOST_SINCE });
  return workspace;
}

/**
 * The commit is named by how many memberships of the person have ended, so it lets them in once after each end. A request
 * that was judged before a removal and is committed after it repeats the admission that the removal ended, and changes
 * nothing; without that, a person with many requests under way would be back with one of them.
 */
async function admit(context: Context, principal: Principal, invitation: HeldInvitation, trace: Trace): Promise<void> {
  const { userId } = principal;
  const { workspaceId, role, endings } = invitation;
  const isForOneUse = invitation.email !== null;
  if (isForOneUse && !(await context.invitations.claim(invitation.id, userId))) throw new Fault('invitation_expired');
  const payload = { workspaceId, userId, role };
  try {
    await context.commitUnit(
      {
        principal,
        authority: 'service',
        txId: `join-workspace:${workspaceId}:${endings}`,
        mutations: [{ modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload }],
      },
      trace,
    );
  } catch (failure) {
    // Another request of the same person was faster: they are in, which is what was asked for.
    const wasFaster =
      failure instanceof Fault && failure.code === 'conflict' && (await isIn(context, userId, invitation));
    if (!wasFaster) {
      if (isForOneUse && isFinal(failure)) await context.invitations.release(invitation.id, userId);
      throw failure;
    }
  }
  if (isForOneUse) await context.invitations.markRedeemed(invitation.id);
}

/** The same words whether the code was never given out, was deleted, or lost the authority behind it. */
function refusalOf({ code, message }: Extract<Judgement, { outcome: 'refused' }>): Fault {
  const words = code === 'not_found' ? UNKNOWN_CODE : message;
  return new Fault(code, words === undefined ? {} : { message: words });
}

const UNKNOWN_CODE = 'No invitation has this code, or it was deleted. Check the code, or ask for a new invitation.';

async function isIn(context: Context, userId: string, { workspaceId }: HeldInvitation): Promise<boolean> {
  return (await context.roles.of(userId, workspaceId)) !== null;
}

/** A refusal changed nothing for sure; after anything else the membership may exist, so the claim stays. */
function isFinal(failure: unknown): boolean {
  return failure instanceof Fault && failure.status < 500;
}
