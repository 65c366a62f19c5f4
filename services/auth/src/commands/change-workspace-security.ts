import { Fault, type Principal } from '@wts/contracts';
import type { Context } from '../context.ts';
import { publishAllRevoked } from '../credentials/publish-revoked.ts';
import { NO_VISITOR, type SecurityEvent, type Visitor } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { EndedOfPeople } from '../store/workspace-policies.ts';

type SecurityContext = Pick<Context, 'roles' | 'directory' | 'factors' | 'record' | 'revoke'>;

/**
 * Requires a second factor of the members of a workspace, or no longer. Who has none is signed out, and their credentials leave every
 * cache, so that the next look-up refuses them. The owner needs one first, because otherwise they lock themselves out.
 * Keeps authentication.factors.workspace.
 */
export async function changeWorkspaceSecurity(
  { roles, directory, factors, record, revoke }: SecurityContext,
  principal: Principal,
  { workspaceId, requiresSecondFactor }: { readonly workspaceId: string; readonly requiresSecondFactor: boolean },
  visitor: Visitor,
): Promise<void> {
  const { userId } = principal;
  await roles.requirePermission(principal, workspaceId, 'security.manage');
  if (requiresSecondFactor && (await factors.lacks(userId)))
    throw new Fault('conflict', { message: 'Add a second factor to your own account first.' });
  const members = requiresSecondFactor ? await directory.membersOf(workspaceId) : [];
  const without = await record.act(async ({ policies, record: write }) => {
    if (requiresSecondFactor !== (await policies.requiresSecondFactor(workspaceId))) {
      await policies.change(workspaceId, { requiresSecondFactor, by: userId });
      const rule = requiresSecondFactor ? 'a second factor is required' : 'no second factor is required';
      await write({ kind: 'policy-changed', userId, workspaceId, visitor, details: { rule } });
    }
    if (!requiresSecondFactor) return [];
    const ended = await policies.endWithoutFactor(members.map((member) => member.userId));
    for (const event of eventsOf(ended, visitor).slice(0, AUTH_LIMITS.eventsOfRuleMax)) await write(event);
    return ended.people;
  });
  for (const one of without) await publishAllRevoked(revoke, one);
}

/** By the service and without a place: it is that of the owner, which is not for members. */
function eventsOf({ sessions, grants }: EndedOfPeople, { requestId }: Visitor): SecurityEvent[] {
  const by = { actor: { kind: 'system' }, visitor: { ...NO_VISITOR, requestId } } as const;
  return [
    ...grants.map(({ id: subjectId, userId, workspaceId, clientName: app }): SecurityEvent => {
      const details = { app, reason: 'a workspace requires a second factor' };
      return { kind: 'grant-ended', userId, workspaceId, subjectId, ...by, details };
    }),
    ...sessions.map(({ id: subjectId, userId, accountId, browser }): SecurityEvent => {
      return { kind: 'session-ended', userId, accountId, subjectId, ...by, details: { browser } };
    }),
  ];
}
