import { Fault, type Principal } from '@wts/contracts';
import type { Context } from '../context.ts';
import { NO_VISITOR, type SecurityEvent, type Visitor } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';

type SecurityContext = Pick<Context, 'roles' | 'factors' | 'record' | 'revoke'>;

/**
 * Requires a second factor of the members of a workspace, or no longer. Who has none is signed out, and their credentials leave every
 * cache, so that the next look-up refuses them. The owner needs one first, because otherwise they lock themselves out.
 * Keeps authentication.factors.workspace.
 */
export async function changeWorkspaceSecurity(
  { roles, factors, record, revoke }: SecurityContext,
  principal: Principal,
  { workspaceId, requiresSecondFactor }: { readonly workspaceId: string; readonly requiresSecondFactor: boolean },
  visitor: Visitor,
): Promise<void> {
  const { userId } = principal;
  await roles.requirePermission(principal, workspaceId, 'security.manage');
  if (requiresSecondFactor && (await factors.lacks(userId))) {
    throw new Fault('conflict', { message: 'Add a second factor to your own account first.' });
  }
  const without = await record.act(async ({ policies, record: write }) => {
    if (requiresSecondFactor !== (await policies.requiresSecondFactor(workspaceId))) {
      await policies.change(workspaceId, { requiresSecondFactor, by: userId });
      const rule = requiresSecondFactor ? 'a second factor is required' : 'no second factor is required';
      await write({ kind: 'policy-changed', userId, workspaceId, visitor, details: { rule } });
    }
    if (!requiresSecondFactor) return [];
    const { people, sessions, grants } = await policies.endWithoutFactor(workspaceId);
    // By the service and without a place: it is that of the owner, which is not for members.
    const by = { actor: { kind: 'system' }, visitor: { ...NO_VISITOR, requestId: visitor.requestId } } as const;
    const events: SecurityEvent[] = [
      ...grants.map(({ id: subjectId, clientName: app, ...of }) => ({
        ...{ kind: 'grant-ended' as const, ...of, subjectId, ...by },
        details: { app, reason: 'a workspace requires a second factor' },
      })),
      ...sessions.map(({ id: subjectId, browser, ...of }) => ({
        ...{ kind: 'session-ended' as const, ...of, subjectId, ...by },
        details: { browser },
      })),
    ];
    for (const event of events.slice(0, AUTH_LIMITS.eventsOfRuleMax)) await write(event);
    return people;
  });
  for (const one of without) await revoke({ kind: 'credential', userId: one });
}
