import { can, includesScope } from '@wts/access';
import type { Role } from '@wts/contracts';
import { idIn, isOf, Project, ProjectMember, Task, type Model, type ModelPermission } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Change } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { Refused } from '../decision/refusal.ts';
import { callerRole, mayName } from './visibility.ts';

/** Refuses a change that the scopes of the credential do not allow, whatever the record. Keeps authentication.scopes.people. */
function permitScope(decision: Decision, { name, scope }: Pick<Model, 'name' | 'scope'>): void {
  if (decision.isByService || includesScope(decision.unit.principal.scopes, scope)) return;
  throw new Refused('insufficient_scope', `A change to a ${name} needs a credential with the scope ${scope}`);
}

/**
 * The record that a mutation names, which the caller may change so; null for a new one. A record that the caller may not see is not
 * found. Keeps sync.mutate.roles, sync.mutate.outsider and sync.private-project.deletion.
 */
export function subjectOf(
  decision: Decision,
  { action, model, id }: Pick<Change, 'action' | 'model' | 'id'>,
): Row | null {
  permitScope(decision, model);
  const { permissions } = model;
  if (action === 'INSERT') {
    if (!decision.isByService && permissions.insert === 'service') throw forbidden(model, 'insert');
    return null;
  }
  const row = decision.row(model, id, 'write');
  if (!row || !(decision.isByService || mayName(decision, model, row)))
    throw new Refused('not_found', `${model.name} not found`);
  if (decision.isByService) return row;
  const kind = action === 'DELETE' ? 'delete' : action === 'UPDATE' ? 'update' : 'archive';
  const needed = permissions[kind] ?? permissions.update;
  if (needed === 'self') permitSelf(decision, row);
  else if (!isPermitted(decision, row, needed)) throw forbidden(model, kind);
  return row;
}

/** Refuses what the caller's role does not allow of this change, beyond what it allows of every one. */
export function permitChange(decision: Decision, { before, after, changed }: Change): void {
  if (decision.isByService || after === null) return;
  if (before === null) return permitInsert(decision, after);
  permitFields(decision, before, changed);
  permitMove(decision, before, after);
}

/**
 * Refuses a new record that the caller's role does not allow; `locationOf` has checked that the caller sees its parents. The lead of a new
 * private project becomes a member of it, so another person as its lead needs the scope of members.
 */
function permitInsert(decision: Decision, draft: Row): void {
  if (isOf(draft, Project) && draft.record.isPrivate && ![null, decision.userId].includes(draft.record.leadId))
    permitScope(decision, { name: "private Project's leadId", scope: ProjectMember.scope });
  if (!isPermitted(decision, draft, draft.model.permissions.insert)) throw forbidden(draft.model, 'insert');
}

/** Whether the caller may change a record that is not a person. */
export function mayChange(decision: Decision, row: Row): boolean {
  const { model } = row;
  return (
    decision.isByService || (mayName(decision, model, row) && isPermitted(decision, row, model.permissions.update))
  );
}

/**
 * Refuses changes of fields that not every caller who may change the record may change; the record before the change counts. Where such
 * a field decides who sees a private project, it needs the scope of its members. Keeps sync.mutate.changed-by.
 */
function permitFields(decision: Decision, row: Row, changed: readonly string[]): void {
  const isOfMembers = isOf(row, Project) && (row.record.isPrivate || changed.includes('isPrivate'));
  for (const name of changed) {
    const needed = row.model.fields[name]?.changedBy;
    if (needed === undefined) continue;
    if (isOfMembers) permitScope(decision, { name: `Project's ${name}`, scope: ProjectMember.scope });
    if (!isPermitted(decision, row, needed))
      throw new Refused(
        'forbidden',
        needed === 'owner'
          ? `Only owners of the workspace can change ${name}`
          : `Only owners and admins of the workspace, and the creator and the lead of the project, can change ${name}`,
      );
  }
}

/**
 * Refuses to move a task into a private project, where others no longer see it, for whom does not decide about it: being assigned
 * does not count, because members assign themselves. The task before the change counts. Keeps sync.private-project.moves.
 */
function permitMove(decision: Decision, row: Row, after: Row): void {
  if (!isOf(row, Task) || !isOf(after, Task)) return;
  if (after.groupId === after.workspaceId || row.record.projectId === after.record.projectId) return;
  const isCreator = row.record.creatorId === decision.userId && callerRole(decision, row) !== null;
  if (!isCreator && !managesProjectOf(decision, row))
    throw new Refused(
      'forbidden',
      'Only its creator, the creator and the lead of its project, and owners and admins of the workspace can move a task into a private project',
    );
}

/** Whether the caller decides about the project of a task: owners and admins, its creator and its lead. */
export function managesProjectOf(decision: Decision, row: Row): boolean {
  const role = callerRole(decision, row);
  if (role === null) return false;
  return can(role, 'manage') || (typeof row.record['projectId'] === 'string' && ownsProject(decision, row, role));
}

/** A person is visible in all their workspaces, so a credential for one of them may not change the person. */
function permitSelf(decision: Decision, { id, model }: Row): void {
  if (id !== decision.userId) throw forbidden(model, 'update');
  if (decision.unit.principal.workspaceId !== undefined)
    throw new Refused('forbidden', `A credential restricted to one workspace cannot change a ${model.name}`);
}

function isPermitted(decision: Decision, row: Row, declared: ModelPermission): boolean {
  const { userId } = decision;
  const role = callerRole(decision, row);
  if (role === null) return false;
  const manages = can(role, 'manage');
  const needed = permissionFor(row, declared);
  switch (needed) {
    case 'service':
    // `permitSelf` decides about a person's own record, which belongs to no workspace.
    case 'self':
      return false;
    case 'manage':
    case 'contribute':
    case 'anyone':
      return can(role, needed);
    case 'own':
      return can(role, needed) || (can(role, needed, true) && isOwned(decision, row));
    case 'owner':
      return can(role, 'owners.manage');
    case 'author':
      return isOwned(decision, row);
    case 'author_or_manage':
      return manages || isOwned(decision, row);
    case 'self_or_manage':
      return manages || row.record['userId'] === userId;
    default:
      return isPermittedOfProject(decision, row, role, needed);
  }
}

function isPermittedOfProject(
  decision: Decision,
  row: Row,
  role: Role,
  needed: 'project' | 'self_or_project',
): boolean {
  const isSelf = needed === 'self_or_project' && row.record['userId'] === decision.userId;
  return can(role, 'manage') || isSelf || ownsProject(decision, row, role);
}

function permissionFor(row: Row, needed: ModelPermission): Exclude<ModelPermission, 'project_if_private'> {
  if (needed !== 'project_if_private') return needed;
  return row.record['isPrivate'] === true ? 'project' : 'contribute';
}

/** Whether the caller created or leads the project, and is no guest of the workspace. */
function ownsProject(decision: Decision, row: Row, role: Role): boolean {
  if (!can(role, 'contribute')) return false;
  const project = isOf(row, Project) ? row : decision.row(Project, idIn(row.record, 'projectId'), 'refer');
  return project !== null && isOwned(decision, project);
}

/** Whether the caller created the record, is assigned to it, or is so for the task that it belongs to. */
function isOwned(decision: Decision, row: Row): boolean {
  if (row.model.owners.length > 0) return row.model.owners.some((field) => row.record[field] === decision.userId);
  const taskId = row.record['taskId'];
  const task = typeof taskId === 'string' ? decision.row(Task, taskId, 'refer') : null;
  return task !== null && isOwned(decision, task);
}

/** Keeps sync.mutate.no-role. */
function forbidden({ name, instead }: Model, action: 'insert' | 'update' | 'archive' | 'delete'): Refused {
  const other = action === 'archive' ? undefined : instead?.[action];
  return new Refused('forbidden', other ?? `Your role does not allow this change to a ${name}`);
}
