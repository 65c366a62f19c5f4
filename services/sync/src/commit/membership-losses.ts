import { ROLES, type Role } from '@wts/contracts';
import { isOf, WorkspaceMember } from '@wts/models';
import { RECORD_LOSSES } from '../store/membership-losses.ts';
import type { Statement } from '../store/prepared.ts';
import type { ReadSet } from '../decision/read-set.ts';
import type { Effect } from '../decision/unit.ts';

interface Loss {
  readonly workspaceId: string;
  readonly userId: string;
  /** Memberships that ended. */
  ended: number;
  /** Another person ended the membership, or any person lowered the role. */
  isTaken: boolean;
}

/**
 * Records which memberships end and which roles are lowered by a batch: the workspace service compares invitations with that. Found
 * in the entries, because every change has one. Run under the lock of the log, so that `taken_at` is the time of the loss and not
 * that of the wait before it.
 *
 * Keeps workspaces.join.after-loss.
 */
export function recordLosses(
  reads: ReadSet,
  entries: readonly { readonly actorId: string; readonly effect: Effect }[],
): Statement[] {
  const losses = new Map<string, Loss>();
  const roles = new Map<string, Role | undefined>();
  for (const { actorId, effect } of entries) {
    const { id, action, groupId, workspaceId } = effect;
    // A membership has an entry for its person too; the one for the workspace is enough.
    if (!isOf(effect, WorkspaceMember) || workspaceId === null || groupId !== workspaceId) continue;
    const { userId, role } = effect.record;
    const before = roles.has(id) ? roles.get(id) : reads.rowBefore(WorkspaceMember, id)?.record.role;
    const after = action === 'DELETE' ? undefined : role;
    roles.set(id, after);
    const isEnd = action === 'DELETE';
    const isTaken = isEnd ? actorId !== userId : isLower(after, before);
    if (!isEnd && !isTaken) continue;
    const key = `${workspaceId} ${userId}`;
    const loss = losses.get(key) ?? { workspaceId, userId, ended: 0, isTaken: false };
    losses.set(key, { ...loss, ended: loss.ended + (isEnd ? 1 : 0), isTaken: loss.isTaken || isTaken });
  }
  if (losses.size === 0) return [];
  // Sorted, so that two batches never wait for each other (a deadlock).
  const rows = [...losses.keys()].sort().flatMap((key) => losses.get(key) ?? []);
  return [
    RECORD_LOSSES.with(
      rows.map(({ workspaceId }) => workspaceId),
      rows.map(({ userId }) => userId),
      rows.map(({ ended }) => String(ended)),
      rows.map(({ isTaken }) => String(isTaken)),
    ),
  ];
}

/** Each role of the list has fewer permissions than the one before it. */
function isLower(after: Role | undefined, before: Role | undefined): boolean {
  return after !== undefined && before !== undefined && ROLES.indexOf(after) > ROLES.indexOf(before);
}
