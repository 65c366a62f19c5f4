import { ROLES, type Role } from '@wts/contracts';
import { isOf, WorkspaceMember } from '@wts/models';
import { RECORD_LOSSES } from '../store/losses.ts';
import type { Call } from '../store/prepared.ts';
import type { Effect } from './unit.ts';
import type { World } from './world.ts';

interface Loss {
  readonly workspaceId: string;
  readonly userId: string;
  /** Memberships that ended. */
  ended: number;
  /** A role was lowered, or a membership ended by another hand than the person's own. */
  isTaken: boolean;
}

/**
 * Writes down which memberships end and which roles shrink with a group, whichever surface asked for it: the workspace
 * service compares invitations with it. It is read off the entries, because nothing becomes true without one. Sent under
 * the lock of the log, so that `taken_at` is the moment of the loss and not that of the wait before it.
 *
 * Keeps workspaces.join.after-loss.
 */
export function lossesOf(
  world: World,
  entries: readonly { readonly actorId: string; readonly effect: Effect }[],
): Call[] {
  const losses = new Map<string, Loss>();
  const roles = new Map<string, Role | undefined>();
  for (const { actorId, effect } of entries) {
    const { id, action, groupId, workspaceId } = effect;
    // A membership has an entry for its person too; the one for the workspace stands for both.
    if (!isOf(effect, WorkspaceMember) || workspaceId === null || groupId !== workspaceId) continue;
    const { userId, role } = effect.record;
    const before = roles.has(id) ? roles.get(id) : world.stored(WorkspaceMember, id)?.record.role;
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
  // In one order, so that two groups do not wait in a circle.
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

/** From the first of the list to the last, roles hold less. */
function isLower(after: Role | undefined, before: Role | undefined): boolean {
  return after !== undefined && before !== undefined && ROLES.indexOf(after) > ROLES.indexOf(before);
}
