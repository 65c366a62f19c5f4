import { isOf, Task, targetOf, Workspace, WorkspaceMember, type Values } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { hasChanges, type Change, type RowChange } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { managesProjectOf } from './permissions.ts';
import { Refused } from '../decision/refusal.ts';

/*
 * An archived record is in the Trash: it can be restored or deleted, and nothing else. What another service has decided is not refused
 * here, except that no person joins a deleted workspace.
 *
 * A restored task is as it was, because nothing of an archived one is changed but references to what is deleted. Keeps trash.restore.
 */

const RESTORE_FIRST = 'it is archived; restore it first';

/** Refuses what the Trash does not allow. Keeps trash.refused and trash.workspace.read-only. */
export function refuseArchived(decision: Decision, { action, before, after, changed, given }: Change): void {
  if (before === null) {
    if (after) refuseInsertBelow(decision, after);
    return;
  }
  refuseInDeletedWorkspace(decision, before, action);
  if (action === 'DELETE') checkDeletionCondition(before, given);
  else if (action === 'ARCHIVE') checkConfirmation(before, given);
  else if (action === 'UPDATE' && after && hasChanges({ before, after, changed }))
    refuseChangeOfArchived(decision, { before, after, changed });
}

/** Refuses a new record below an archived one, or in a deleted workspace. */
function refuseInsertBelow(decision: Decision, draft: Row): void {
  const { model, workspaceId } = draft;
  // Its row was read for the location of the membership, and is locked.
  if (model === WorkspaceMember && workspaceId !== null)
    refuseDeleted(isArchived(decision.row(Workspace, workspaceId, 'refer')));
  if (decision.isByService) return;
  refuseDeletedWorkspace(decision, workspaceId);
  refuseBelowArchived(decision, draft);
}

/** Refuses what a deleted workspace does not allow: anything but leaving it, removing a member and restoring it. */
function refuseInDeletedWorkspace(decision: Decision, row: Row, action: Change['action']): void {
  if (decision.isByService || row.model === Workspace) return;
  if (row.model === WorkspaceMember && action === 'DELETE') return;
  refuseDeletedWorkspace(decision, row.workspaceId);
}

function refuseDeletedWorkspace(decision: Decision, workspaceId: string | null): void {
  refuseDeleted(workspaceId !== null && isDeletedWorkspace(decision, workspaceId));
}

/** Whether a workspace is deleted. That it is not is checked again when the unit is committed. */
export function isDeletedWorkspace(decision: Decision, workspaceId: string): boolean {
  const { changes, trash } = decision;
  const isKnown = changes.row(Workspace, workspaceId) !== undefined || trash.workspaces.has(workspaceId);
  if (isKnown && isArchived(decision.row(Workspace, workspaceId, 'refer'))) return true;
  changes.assumeKept(workspaceId);
  return false;
}

function refuseDeleted(isDeleted: boolean): void {
  if (isDeleted)
    throw new Refused(
      'workspace_archived',
      'The workspace is deleted; an owner can restore it, until then it can be read only',
    );
}

/**
 * Refuses a change of an archived record, and of what belongs to an archived task. Who decides about a private project may move a task
 * out of it, because otherwise what is in its Trash would stay there. Keeps trash.refused.
 */
function refuseChangeOfArchived(decision: Decision, change: RowChange): void {
  if (decision.isByService) return;
  const { before: row } = change;
  if (row.model === Workspace) {
    refuseDeleted(isArchived(row));
    checkRetention(decision, change);
  }
  if (isArchived(row) && !movesOut(decision, change))
    throw new Refused('record_archived', `This ${row.model.name} cannot be changed: ${RESTORE_FIRST}`);
  refuseBelowArchived(decision, row);
}

function movesOut(decision: Decision, { before: row, after, changed }: RowChange): boolean {
  return (
    row.model === Task &&
    row.groupId !== row.workspaceId &&
    row.groupId !== after.groupId &&
    changed.every((name) => name === 'projectId') &&
    managesProjectOf(decision, row)
  );
}

function refuseBelowArchived(decision: Decision, { model, record }: Row): void {
  const { audience } = model;
  if (audience.kind !== 'parent') return;
  const parentId = record[audience.field];
  const parent = typeof parentId === 'string' ? decision.row(targetOf(model, audience.field), parentId, 'refer') : null;
  if (isArchived(parent))
    throw new Refused(
      'record_archived',
      `${audience.field}: this ${parent?.model.name} cannot be changed: ${RESTORE_FIRST}`,
    );
}

/** `ifArchivedAt` of a DELETE: the record is deleted only while it is archived since that time. Keeps trash.empty.condition. */
function checkDeletionCondition({ model, record }: Row, payload: Values): void {
  const since = payload['ifArchivedAt'];
  if (since !== undefined && record.archivedAt !== since)
    throw new Refused('conflict', `This ${model.name} was restored, or archived again, since ifArchivedAt`);
}

/** A record that hides much is archived by who repeats a name of it. Keeps trash.workspace.delete. */
function checkConfirmation({ model, record }: Row, payload: Values): void {
  const { confirmedBy } = model;
  if (confirmedBy !== undefined && payload[confirmedBy] !== record[confirmedBy])
    throw new Refused('validation_failed', `${confirmedBy} must be that of the ${model.name}, as a confirmation`);
}

/** A workspace keeps its Trash longer than the installation, and never shorter than before. Keeps trash.retention. */
function checkRetention(
  { trash: { retentionDays } }: Decision,
  { before: row, after: next, changed }: RowChange,
): void {
  if (!isOf(row, Workspace) || !isOf(next, Workspace) || !changed.includes('trashRetentionDays')) return;
  const [before, after] = [row.record.trashRetentionDays ?? 0, next.record.trashRetentionDays ?? 0];
  if (retentionDays > 0 && after >= Math.max(before, retentionDays)) return;
  const least =
    retentionDays === 0
      ? 'this installation keeps the Trash forever'
      : `it can only be raised, to ${Math.max(before, retentionDays)} days or more`;
  throw new Refused('validation_failed', `trashRetentionDays: ${least}`);
}

function isArchived(row: Row | null): boolean {
  return typeof row?.record.archivedAt === 'string';
}
