import { can, includesScope } from '@wts/access';
import type { Role } from '@wts/contracts';
import {
  idIn,
  isOf,
  Project,
  ProjectMember,
  Task,
  targetOf,
  WorkspaceMember,
  type Model,
  type ModelPermission,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { DecisionState } from './decision-state.ts';
import { within } from './lookup.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';

/**
 * The role of a person in a workspace; null when they are not in it. `refer` locks the membership until commit; `look` assumes that
 * it is still the same at commit, which blocks no other transaction.
 */
export function roleIn(
  state: DecisionState,
  workspaceId: string,
  userId: string,
  lock: 'look' | 'refer' = 'look',
): Role | null {
  const all = { model: WorkspaceMember, field: 'userId', value: userId };
  // Without a lock all memberships of the person are read, for the cache, unless those are too many.
  const readsAll = lock === 'look' && !state.isExcess(all);
  const memberships = state.related(readsAll ? all : within(workspaceId, all), lock);
  const membership = memberships.find(({ record }) => record.workspaceId === workspaceId);
  if (membership && lock === 'look') state.assumeUnchanged(membership);
  return membership?.record.role ?? null;
}

function isProjectMember(state: DecisionState, projectId: string, userId: string): boolean {
  // Not all memberships of the person: others can add a person to any number of projects.
  const [membership] = state.related(
    { model: ProjectMember, field: 'userId', value: userId, and: { field: 'projectId', value: projectId } },
    'look',
  );
  if (membership) state.assumeUnchanged(membership);
  return membership !== undefined;
}

/**
 * Whether the caller may see records at this location. A private project is visible to its members only, whatever their role.
 *
 * Keeps never.shown-outside.
 */
function sees(state: DecisionState, unit: Unit, location: Pick<Row, 'workspaceId' | 'groupId'>): boolean {
  const { userId } = unit.principal;
  if (unit.authority === 'service') return true;
  const { workspaceId, groupId } = location;
  if (workspaceId === null) return groupId === userId;
  if (!belongsTo(state, unit, workspaceId)) return false;
  return groupId === workspaceId || isProjectMember(state, groupId, userId);
}

/** Whether the caller is in the workspace, and the credential is valid for it. */
export function belongsTo(state: DecisionState, unit: Unit, workspaceId: string): boolean {
  const { userId, workspaceId: only } = unit.principal;
  if (unit.authority === 'service') return true;
  return (only === undefined || only === workspaceId) && roleIn(state, workspaceId, userId) !== null;
}

/**
 * Whether the caller may name this record in a record of `model`. Managers of a workspace may name a private project in its
 * memberships without seeing it: otherwise a project without members would be lost. During a sweep the current location counts.
 */
export function mayName(state: DecisionState, unit: Unit, model: Model, target: Row): boolean {
  const location = currentLocation(state, target);
  if (!location) return false;
  return (
    sees(state, unit, location) || (model.permissions.insert === 'project' && managesWorkspace(state, unit, target))
  );
}

/**
 * The location of a record by its parents, which are locked until commit; null when a parent is deleted. It differs from the row
 * while a sweep is moving the descendants of a record: callers who do not see the new location can no longer change the record, and
 * new children get the new location.
 *
 * Keeps never.shown-outside.
 */
export function currentLocation(state: DecisionState, row: Row): Pick<Row, 'workspaceId' | 'groupId'> | null {
  const { audience } = row.model;
  // A workspace never changes its group.
  if (!('field' in audience) || audience.field === 'id' || audience.field === 'workspaceId') return row;
  const parentId = row.record[audience.field];
  if (typeof parentId !== 'string') return row;
  const parent = state.row(targetOf(row.model, audience.field), parentId, 'refer');
  return parent && currentLocation(state, parent);
}

/** Refuses a change that the scopes of the credential do not allow, whatever the record. Keeps authentication.scopes.people. */
export function permitScope(
  { authority, principal }: Unit,
  { name, scope }: Pick<Model, 'name' | 'scope'>,
): Refusal | null {
  if (authority === 'service' || includesScope(principal.scopes, scope)) return null;
  return refuse('insufficient_scope', `A change to a ${name} needs a credential with the scope ${scope}`);
}

/** Refuses a new record that the caller's role does not allow; `locationOf` has checked that the caller sees its parents. */
export function permitInsert(state: DecisionState, unit: Unit, draft: Row): Refusal | null {
  if (unit.authority === 'service') return null;
  return isPermitted(state, unit, draft, draft.model.permissions.insert) ? null : forbidden(draft.model);
}

/**
 * Refuses a change or a deletion that the caller's role does not allow. A record that the caller may not see is not found.
 * Keeps sync.mutate.roles, sync.mutate.outsider and sync.private-project.deletion.
 */
export function permit(state: DecisionState, unit: Unit, row: Row, action: 'update' | 'delete'): Refusal | null {
  if (unit.authority === 'service') return null;
  const { model } = row;
  const needed = model.permissions[action];
  if (!mayName(state, unit, model, row)) {
    return refuse('not_found', `${model.name} not found`);
  }
  if (needed === 'self') return permitSelf(unit, row);
  return isPermitted(state, unit, row, needed) ? null : forbidden(model);
}

/**
 * Refuses changes of fields that not every caller who may change the record may change; the record before the change counts. Where such
 * a field decides who sees a private project, it needs the scope of its members. Keeps sync.mutate.changed-by.
 */
export function permitFields(state: DecisionState, unit: Unit, row: Row, changed: readonly string[]): Refusal | null {
  if (unit.authority === 'service') return null;
  const isOfMembers = isOf(row, Project) && (row.record.isPrivate || changed.includes('isPrivate'));
  for (const name of changed) {
    const needed = row.model.fields[name]?.changedBy;
    if (needed === undefined) continue;
    const unscoped = isOfMembers ? permitScope(unit, { name: `Project's ${name}`, scope: ProjectMember.scope }) : null;
    if (unscoped) return unscoped;
    if (!isPermitted(state, unit, row, needed))
      return refuse(
        'forbidden',
        `Only owners and admins of the workspace, and the creator and the lead of the project, can change ${name}`,
      );
  }
  return null;
}

/**
 * Refuses to move a task into a private project, where others no longer see it, for whom does not decide about it: being assigned
 * does not count, because members assign themselves. The task before the change counts. Keeps sync.private-project.moves.
 */
export function permitMove(state: DecisionState, unit: Unit, row: Row, after: Row): Refusal | null {
  if (unit.authority === 'service' || !isOf(row, Task) || !isOf(after, Task)) return null;
  if (after.groupId === after.workspaceId || row.record.projectId === after.record.projectId) return null;
  const { userId } = unit.principal;
  const role = callerRole(state, unit, row);
  const decides =
    role !== null &&
    (can(role, 'manage') ||
      row.record.creatorId === userId ||
      (row.record.projectId !== null && ownsProject(state, row, role, userId)));
  return decides
    ? null
    : refuse(
        'forbidden',
        'Only its creator, the creator and the lead of its project, and owners and admins of the workspace can move a task into a private project',
      );
}

/** A person is visible in all their workspaces, so a credential for one of them may not change the person. */
function permitSelf({ principal }: Unit, { id, model }: Row): Refusal | null {
  if (id !== principal.userId) return forbidden(model);
  return principal.workspaceId === undefined
    ? null
    : refuse('forbidden', `A credential restricted to one workspace cannot change a ${model.name}`);
}

function isPermitted(state: DecisionState, unit: Unit, row: Row, declared: ModelPermission): boolean {
  const { userId } = unit.principal;
  const role = callerRole(state, unit, row);
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
      return can(role, needed) || (can(role, needed, true) && isOwnedBy(state, row, userId));
    case 'author':
      return isOwnedBy(state, row, userId);
    case 'author_or_manage':
      return manages || isOwnedBy(state, row, userId);
    case 'self_or_manage':
      return manages || row.record['userId'] === userId;
    case 'project':
      return manages || ownsProject(state, row, role, userId);
    case 'self_or_project':
      return manages || row.record['userId'] === userId || ownsProject(state, row, role, userId);
  }
}

function permissionFor(row: Row, needed: ModelPermission): Exclude<ModelPermission, 'project_if_private'> {
  if (needed !== 'project_if_private') return needed;
  return row.record['isPrivate'] === true ? 'project' : 'contribute';
}

function managesWorkspace(state: DecisionState, unit: Unit, row: Row): boolean {
  if (row.workspaceId === null || !belongsTo(state, unit, row.workspaceId)) return false;
  const role = callerRole(state, unit, row);
  return role !== null && can(role, 'manage');
}

function callerRole(state: DecisionState, unit: Unit, { workspaceId }: Row): Role | null {
  return workspaceId === null ? null : roleIn(state, workspaceId, unit.principal.userId);
}

/** Whether the person created or leads the project, and is no guest of the workspace. */
function ownsProject(state: DecisionState, row: Row, role: Role, userId: string): boolean {
  if (!can(role, 'contribute')) return false;
  const project = isOf(row, Project) ? row : state.row(Project, idIn(row.record, 'projectId'), 'refer');
  return project !== null && isOwnedBy(state, project, userId);
}

/** Whether the person created the record, is assigned to it, or is so for the task that it belongs to. */
function isOwnedBy(state: DecisionState, row: Row, userId: string): boolean {
  if (row.model.owners.length > 0) return row.model.owners.some((field) => row.record[field] === userId);
  const taskId = row.record['taskId'];
  const task = typeof taskId === 'string' ? state.row(Task, taskId, 'refer') : null;
  return task !== null && isOwnedBy(state, task, userId);
}

export function forbidden(model: Model): Refusal {
  return refuse('forbidden', `Your role does not allow this change to a ${model.name}`);
}
