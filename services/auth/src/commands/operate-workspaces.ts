import { servicePrincipal } from '@wts/access';
import { Fault, type InternalMutation } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Cell } from '../cells/cells.ts';
import type { OperatorContext } from '../context.ts';
import { refuseDisabled, type Operator } from './disable-person.ts';

/** Commits a change that an operator decides: of this service, because an operator is no person of the installation. */
export async function commitByOperator(
  { commitUnit }: Pick<Cell, 'commitUnit'>,
  mutations: readonly InternalMutation[],
): Promise<void> {
  const principal = servicePrincipal('auth');
  await commitUnit({ principal, authority: 'service', txId: `operator:${randomUUID()}`, mutations });
}

const EVENTS = { ARCHIVE: 'workspace-deleted', UNARCHIVE: 'workspace-restored' } as const;

/**
 * Deletes a workspace, or restores it, as an owner of it can: a deleted one is read-only, and is deleted for good when its time in the Trash
 * is over.
 */
export async function changeWorkspace(
  { directory, workspaces, record }: Pick<OperatorContext, 'directory' | 'workspaces' | 'record'>,
  workspaceId: string,
  change: { readonly action: keyof typeof EVENTS; readonly payload: { readonly urlKey?: string } },
  operator: Operator,
): Promise<void> {
  const cell = await directory.cellOf(workspaceId);
  if (cell === null || (await workspaces.find(workspaceId)) === null) throw new Fault('not_found');
  await commitByOperator(cell, [{ modelName: 'Workspace', modelId: workspaceId, ...change }]);
  await record.add({ kind: EVENTS[change.action], workspaceId, ...operator, details: {} });
}

/** Makes a person an owner of a workspace, whatever they are there now. For a workspace whose owners left. */
export async function addOwner(
  context: OperatorContext,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  operator: Operator,
): Promise<void> {
  const { people, directory, record, copyPerson } = context;
  const person = await people.find(userId);
  if (person?.erasedAt !== null) throw new Fault('conflict', { message: 'This person is erased.' });
  refuseDisabled(person);
  const cell = await directory.cellOf(workspaceId);
  if (cell === null) throw new Fault('not_found');
  await copyPerson(userId, cell.shard);
  const member = (await cell.membershipDetails(userId)).find((one) => one.workspaceId === workspaceId);
  if (member?.role === 'owner') return;
  const payload = { workspaceId, userId, role: 'owner' };
  await commitByOperator(cell, [
    member === undefined
      ? { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload }
      : { modelName: 'WorkspaceMember', modelId: member.id, action: 'UPDATE', payload: { role: 'owner' } },
  ]);
  await record.add({ kind: 'owner-made', userId, workspaceId, ...operator, details: {} });
}
