import { requireScope } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import { Task } from '@wts/models';
import type { ServiceClient } from '@wts/service-kit/call';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../domain/caller.ts';
import type { Reads } from '../queries/reads.ts';
import { workspaceOf } from '../store/trash.ts';
import { CLIENT_ID } from './changes.ts';
import { mutate, type Change, type Outcome } from './mutate.ts';
import { refused, type Refused } from './outcome.ts';

export interface EmptiedTrash {
  readonly success: boolean;
  readonly deleted: number;
  readonly remaining: number;
  readonly lastSyncId: string;
  readonly error: Refused['error'] | null;
}

/**
 * Deletes the oldest tasks of the Trash that the caller may delete, as ordinary deletions of the caller. `count` confirms how many
 * these are. Each is deleted only while it is archived as it was read, so one that was restored meanwhile stays. Keeps trash.empty.
 */
export async function emptyTrash(
  { sync, reads }: { readonly sync: ServiceClient; readonly reads: Reads },
  caller: Caller,
  given: { readonly workspaceId: string; readonly count: number },
): Promise<EmptiedTrash> {
  requireScope(caller.principal, Task.scope);
  const workspaceId = workspaceOf(given.workspaceId);
  const present = await reads.deletableTrash(workspaceId);
  if (present !== given.count) {
    const { error } = refused('CONFLICT', `count is ${given.count}, but you can delete ${present} tasks of this Trash`);
    return { success: false, deleted: 0, remaining: present, lastSyncId: '0', error };
  }
  const changes = (await reads.oldestTrash(workspaceId, LIMITS.trashEmptyMax)).map(deletionOf);
  const outcomes: Outcome[] = [];
  for (let from = 0; from < changes.length; from += LIMITS.mutateTransactionsMax)
    outcomes.push(...(await mutate(sync, caller, changes.slice(from, from + LIMITS.mutateTransactionsMax))));
  const accepted = outcomes.filter((outcome) => outcome.ok);
  // Some may have been restored meanwhile. Where all are refused, none can be deleted, such as in a deleted workspace.
  const refusal = accepted.length === 0 ? outcomes.find((outcome) => !outcome.ok) : undefined;
  const last = accepted.reduce((highest, { syncId }) => (BigInt(syncId) > highest ? BigInt(syncId) : highest), 0n);
  reads.reach(last.toString());
  return {
    success: refusal === undefined,
    deleted: accepted.length,
    remaining: await reads.deletableTrash(workspaceId),
    lastSyncId: last.toString(),
    error: refusal?.error ?? null,
  };
}

function deletionOf({ id, archivedAt }: { readonly id: string; readonly archivedAt: string }): Change {
  return {
    model: Task,
    id,
    action: 'DELETE',
    payload: { ifArchivedAt: archivedAt },
    clientId: CLIENT_ID,
    clientTxId: randomUUID(),
  };
}
