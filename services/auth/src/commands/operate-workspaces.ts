import { servicePrincipal } from '@wts/access';
import { Fault, type InternalMutation } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Cell } from '../cells/cells.ts';
import type { EventKind } from '../domain/security-event.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { OperatorPeople } from '../directory/operator-people.ts';
import type { OperatorWorkspaces } from '../directory/operator-workspaces.ts';
import { refuseDisabled, type Operator } from './disable-person.ts';

export interface OperateContext {
  readonly record: SecurityRecord;
  readonly people: OperatorPeople;
  readonly workspaces: OperatorWorkspaces;
  /** Makes sure that a cell has the record of a person. */
  readonly copyPerson: (userId: string, shard: number) => Promise<void>;
}

/** Commits a change that an operator decides: of this service, because an operator is no person of the installation. */
export async function commitByOperator(
  { commitUnit }: Pick<Cell, 'commitUnit'>,
  mutations: readonly InternalMutation[],
): Promise<void> {
  const principal = servicePrincipal('auth');
  await commitUnit({ principal, authority: 'service', txId: `operator:${randomUUID()}`, mutations });
}

/** As an owner of the workspace can: it is read-only, and is deleted for good when its time in the Trash is over. */
export async function deleteWorkspace(
  context: OperateContext,
  { workspaceId, urlKey }: { readonly workspaceId: string; readonly urlKey: string },
  operator: Operator,
): Promise<void> {
  await change(context, { workspaceId, action: 'ARCHIVE', payload: { urlKey } }, 'workspace-deleted', operator);
}

export async function restoreWorkspace(
  context: OperateContext,
  { workspaceId }: { readonly workspaceId: string },
  operator: Operator,
): Promise<void> {
  await change(context, { workspaceId, action: 'UNARCHIVE', payload: {} }, 'workspace-restored', operator);
}

async function change(
  context: OperateContext,
  { workspaceId, action, payload }: Pick<InternalMutation, 'action' | 'payload'> & { readonly workspaceId: string },
  kind: Extract<EventKind, 'workspace-deleted' | 'workspace-restored'>,
  operator: Operator,
): Promise<void> {
  const cell = await context.workspaces.cellOf(workspaceId);
  if (cell === null || (await context.workspaces.find(workspaceId)) === null) throw new Fault('not_found');
  await commitByOperator(cell, [{ modelName: 'Workspace', modelId: workspaceId, action, payload }]);
  await context.record.add({ kind, workspaceId, ...operator, details: {} });
}

/** Makes a person an owner of a workspace, whatever they are there now. For a workspace whose owners left. */
export async function addOwner(
  context: OperateContext,
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
  operator: Operator,
): Promise<void> {
  const { people, workspaces, record, copyPerson } = context;
  const person = await people.find(userId);
  if (person?.erasedAt !== null) throw new Fault('conflict', { message: 'This person is erased.' });
  refuseDisabled(person);
  const cell = await workspaces.cellOf(workspaceId);
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
