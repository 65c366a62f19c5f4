import type { Principal, Revocation } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { standingIn } from '../queries/standing.ts';
import type { WorkspaceReads } from '../store/workspaces.ts';
import type { CommitUnitDoor, Trace } from './commit-unit.ts';

/**
 * Removes a member, or lets the caller leave. Who may, and that an owner stays, is judged by the commit, under lock and
 * for every door alike. The log tells open sockets which groups they lost; the revocation tells caches. Keeps
 * workspaces.members.remove and workspaces.members.leave.
 */
export async function removeMember(
  door: {
    readonly workspaces: WorkspaceReads;
    readonly commitUnit: CommitUnitDoor;
    readonly revoke: (revocation: Revocation) => Promise<void>;
  },
  principal: Principal,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  trace: Trace,
): Promise<void> {
  await standingIn(door.workspaces, principal, workspaceId);
  const modelId = await door.workspaces.membershipIdOf(userId, workspaceId);
  if (modelId === null) throw new Fault('not_found');
  await door.commitUnit(
    {
      principal,
      authority: 'caller',
      txId: `remove-member:${randomUUID()}`,
      mutations: [{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }],
    },
    trace,
  );
  await door.revoke({ kind: 'membership', userId: userId.toLowerCase(), workspaceId: workspaceId.toLowerCase() });
}
