import { can } from '@wts/access';
import { idIn, isOf, WorkspaceMember } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Change } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { Refused } from '../decision/refusal.ts';
import { roleIn } from './visibility.ts';

/** Rules for memberships of workspaces. */
export function checkMembership(decision: Decision, { model, before, after }: Change): void {
  if (model !== WorkspaceMember) return;
  if (before === null && after) checkReturn(decision, after);
  checkOwners(decision, before, after);
}

/** A person joins again only after a sweep has deleted their earlier memberships inside the workspace, so that they do not regain them. */
function checkReturn({ reads }: Decision, { workspaceId, record }: Row): void {
  if (reads.fact({ kind: 'leaving', workspaceId: workspaceId ?? '', userId: idIn(record, 'userId') }))
    throw new Refused(
      'unavailable',
      'The earlier memberships of this person are still being removed; try again shortly',
    );
}

/** Only owners add, change or remove owners, and a workspace always keeps one. Keeps workspaces.members.last-owner. */
function checkOwners(decision: Decision, before: Row | null, after: Row | null): void {
  const [was, becomes] = [before, after].map((row) =>
    row && isOf(row, WorkspaceMember) ? row.record.role : undefined,
  );
  if ((was !== 'owner' && becomes !== 'owner') || was === becomes) return;
  const workspaceId = (after ?? before)?.workspaceId ?? '';
  const { userId } = decision;
  const isLeaving = before !== null && after === null && before.record['userId'] === userId;
  if (!decision.isByService && !isLeaving) {
    const role = roleIn(decision, workspaceId, userId);
    if (role === null || !can(role, 'owners.manage'))
      throw new Refused('forbidden', 'Only an owner can add, change or remove an owner');
  }
  if (was !== 'owner' || before === null) return;
  // All owners are locked, so two of them cannot leave at the same time.
  const owners = decision.related(
    { model: WorkspaceMember, field: 'workspaceId', value: workspaceId, and: { field: 'role', value: 'owner' } },
    'write',
  );
  if (owners.every(({ id }) => id === before.id))
    throw new Refused('last_owner', 'A workspace keeps at least one owner');
}
