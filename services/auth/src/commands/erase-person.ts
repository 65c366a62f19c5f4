import { Fault } from '@wts/contracts';
import { ERASED_PERSON } from '@wts/models';
import { whole } from '../directory/gather.ts';
import type { OperatorContext } from '../context.ts';
import { disablePerson, type Operator } from './disable-person.ts';
import { commitByOperator } from './operate-workspaces.ts';

/** What stays of a person, and until when; the answer and the documentation say the same. */
const STAYS = [
  'Tasks, projects and comments that they wrote stay in their workspaces, as those of "Deleted person".',
  'Texts in which others wrote their name or address stay.',
  'The log of changes has their earlier name and address until LOG_RETENTION_DAYS are over (30 by default).',
  'The security record has their id, networks and browsers until SECURITY_RECORD_DAYS are over (400 by default).',
  'Open invitations to their address stay until they expire (90 days at most); owners of the workspace can delete them.',
  'Webhook deliveries that were sent, and backups, have what they had.',
  'Their identity provider may still sign them in: that makes a new person, who is in no workspace.',
] as const;

/**
 * Erases a person. Their record stays, without anything that says who they were, because tasks and comments refer to it. Profile before
 * memberships, because a workspace keeps what it sees of a person who leaves; the end of their access before both. Each step happens once,
 * so a run that broke off is repeated. Keeps operator.erase.gone.
 */
export async function erasePerson(
  context: OperatorContext,
  { userId, name }: { readonly userId: string; readonly name: string },
  operator: Operator,
): Promise<readonly string[]> {
  const { people, directory, record, revoke } = context;
  const person = await people.find(userId);
  if (person === null) throw new Fault('not_found');
  if (person.erasedAt !== null) return STAYS;
  if (person.name !== name && person.name !== ERASED_PERSON.name)
    throw new Fault('validation_failed', { message: 'body/name must be the name of the person, as a confirmation' });
  const memberships = whole(await directory.membershipDetails(userId));
  const cells = await directory.cellsOf(userId);
  const alone = memberships.filter(({ isOnlyOwner, archivedAt }) => isOnlyOwner && archivedAt === null);
  if (alone.length > 0) {
    const names = alone.map(({ name: workspaceName }) => workspaceName).join(', ');
    const message = `The person is the only owner of ${names}. Make another person an owner, or delete the workspace.`;
    throw new Fault('last_owner', { message });
  }
  await disablePerson(context, userId, operator);
  const erased = { modelName: 'User', modelId: userId, action: 'UPDATE', payload: { ...ERASED_PERSON } } as const;
  // In each cell before the memberships there, which a follower of the log would not ensure.
  for (const cell of cells) await commitByOperator(cell, [erased]);
  for (const { id, workspaceId, isOnlyOwner } of memberships) {
    // A deleted workspace keeps its owner until it is deleted for good.
    if (isOnlyOwner) continue;
    const cell = await directory.cellOf(workspaceId);
    if (cell === null) continue;
    await commitByOperator(cell, [{ modelName: 'WorkspaceMember', modelId: id, action: 'DELETE', payload: {} }]);
    await revoke({ kind: 'membership', userId, workspaceId });
  }
  await record.act(async ({ disabled, record: write }) => {
    await disabled.erase(userId);
    await write({ kind: 'person-erased', userId, ...operator, details: {} });
  });
  return STAYS;
}
