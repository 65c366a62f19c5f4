import { can } from '@wts/access';
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
  type Permission,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import { within, type World } from './world.ts';

/**
 * The role of a person in a workspace; null when they are not in it. `refer` holds it until commit; otherwise the group
 * makes sure at the end that it is still so, which holds up nobody.
 */
export function roleIn(
  world: World,
  workspaceId: string,
  userId: string,
  lock: 'look' | 'refer' = 'look',
): Role | null {
  const all = { model: WorkspaceMember, field: 'userId', value: userId };
  // Where else they are a member is looked at with it, and remembered, unless that is too much; it is not held.
  const isOfAll = lock === 'look' && !world.isExcess(all);
  const memberships = world.relatedBy(isOfAll ? all : within(workspaceId, all), lock);
  const membership = memberships.find(({ record }) => record.workspaceId === workspaceId);
  if (membership && lock === 'look') world.rely(membership);
  return membership?.record.role ?? null;
}

function isProjectMember(world: World, projectId: string, userId: string): boolean {
  // Not of what else: others make a person a member of as many projects as they like.
  const [membership] = world.relatedBy(
    { model: ProjectMember, field: 'userId', value: userId, and: { field: 'projectId', value: projectId } },
    'look',
  );
  if (membership) world.rely(membership);
  return membership !== undefined;
}

/**
 * Whether the caller may see what stands at this place. A private project is for its members only, whatever their role.
 *
 * Keeps never.shown-outside.
 */
function sees(world: World, unit: Unit, place: { workspaceId: string | null; groupId: string }): boolean {
  const { userId } = unit.principal;
  if (unit.authority === 'service') return true;
  if (place.workspaceId === null) return place.groupId === userId;
  if (!belongsTo(world, unit, place.workspaceId)) return false;
  return place.groupId === place.workspaceId || isProjectMember(world, place.groupId, userId);
}

/** Whether the caller is in the workspace, and their credential is good for it. */
export function belongsTo(world: World, unit: Unit, workspaceId: string): boolean {
  const { userId, workspaceId: only } = unit.principal;
  if (unit.authority === 'service') return true;
  return (only === undefined || only === workspaceId) && roleIn(world, workspaceId, userId) !== null;
}

/**
 * Whether the caller may name this record in one of `model`. Managing who sees a private project does not need seeing it:
 * otherwise a project without members were lost. Where a sweep is under way, what counts is where the record belongs by now.
 */
export function mayName(world: World, unit: Unit, model: Model, target: Row): boolean {
  const place = standing(world, target);
  if (!place) return false;
  return sees(world, unit, place) || (model.permissions.insert === 'project' && managesPlace(world, unit, target));
}

/**
 * Where a record stands by what it is inside of, held until commit; null when that is gone. It differs from its row while
 * what is below a record that was moved or deleted is still being swept: nobody outside may change it any more, and what is
 * attached to it comes to the right place at once.
 *
 * Keeps never.shown-outside.
 */
export function standing(world: World, row: Row): { workspaceId: string | null; groupId: string } | null {
  const { audience } = row.model;
  // A workspace stays where it is.
  if (!('field' in audience) || audience.field === 'id' || audience.field === 'workspaceId') return row;
  const parentId = row.record[audience.field];
  if (typeof parentId !== 'string') return row;
  const parent = world.row(targetOf(row.model, audience.field), parentId, 'refer');
  return parent && standing(world, parent);
}

/** Whether the caller may make this new record, whose place and parents they were found to see; null when they may. */
export function permitInsert(world: World, unit: Unit, draft: Row): Refusal | null {
  if (unit.authority === 'service') return null;
  const role = draft.workspaceId === null ? null : roleIn(world, draft.workspaceId, unit.principal.userId);
  return role !== null && holds(world, unit, draft, role, draft.model.permissions.insert)
    ? null
    : forbidden(draft.model);
}

/**
 * Whether the caller may change this record; null when they may. What they may not even see is answered as not there.
 * Keeps sync.mutate.roles and sync.mutate.outsider.
 */
export function permit(world: World, unit: Unit, row: Row, action: 'update' | 'delete'): Refusal | null {
  if (unit.authority === 'service') return null;
  const { model } = row;
  const needed = model.permissions[action];
  if (!mayName(world, unit, model, row)) {
    return refuse('not_found', `${model.name} not found`);
  }
  if (needed === 'self') return permitSelf(unit, row);
  const role = row.workspaceId === null ? null : roleIn(world, row.workspaceId, unit.principal.userId);
  return role !== null && holds(world, unit, row, role, needed) ? null : forbidden(model);
}

/**
 * Whether the caller may change these fields of a record that they may change, by what the record is before; null when they
 * may. Keeps sync.mutate.changed-by.
 */
export function permitFields(world: World, unit: Unit, row: Row, changed: readonly string[]): Refusal | null {
  if (unit.authority === 'service') return null;
  for (const name of changed) {
    const needed = row.model.fields[name]?.changedBy;
    if (needed === undefined) continue;
    const role = roleIn(world, row.workspaceId ?? '', unit.principal.userId);
    if (role === null || !holds(world, unit, row, role, needed))
      return refuse(
        'forbidden',
        `Only owners and admins of the workspace, and the creator and the lead of the project, can change ${name}`,
      );
  }
  return null;
}

/** A person is seen in all their workspaces, so a credential for one of them does not change the person. */
function permitSelf({ principal }: Unit, { id, model }: Row): Refusal | null {
  if (id !== principal.userId) return forbidden(model);
  return principal.workspaceId === undefined
    ? null
    : refuse('forbidden', `A credential restricted to one workspace cannot change a ${model.name}`);
}

function holds(world: World, unit: Unit, row: Row, role: Role, needed: Permission): boolean {
  const { userId } = unit.principal;
  const manages = can(role, 'manage');
  switch (needed) {
    case 'service':
      return false;
    case 'manage':
    case 'contribute':
    case 'anyone':
      return can(role, needed);
    case 'own':
      return can(role, needed) || (can(role, needed, true) && isTheirs(world, row, userId));
    case 'author':
      return isTheirs(world, row, userId);
    case 'author_or_manage':
      return manages || isTheirs(world, row, userId);
    case 'self':
      return row.id === userId;
    case 'self_or_manage':
      return manages || row.record['userId'] === userId;
    case 'project':
      return manages || holdsProject(world, row, role, userId);
    case 'self_or_project':
      return manages || row.record['userId'] === userId || holdsProject(world, row, role, userId);
  }
}

function managesPlace(world: World, unit: Unit, { workspaceId }: Row): boolean {
  if (workspaceId === null || !belongsTo(world, unit, workspaceId)) return false;
  const role = roleIn(world, workspaceId, unit.principal.userId);
  return role !== null && can(role, 'manage');
}

/** Who made or leads a project, as long as their role lets them work on projects: not after they became a guest. */
function holdsProject(world: World, row: Row, role: Role, userId: string): boolean {
  if (!can(role, 'contribute')) return false;
  const project = isOf(row, Project) ? row : world.row(Project, idIn(row.record, 'projectId'), 'refer');
  return project !== null && isTheirs(world, project, userId);
}

/** Created by them, assigned to them, or a part of such a task. */
function isTheirs(world: World, row: Row, userId: string): boolean {
  if (row.model.owners.length > 0) return row.model.owners.some((field) => row.record[field] === userId);
  const taskId = row.record['taskId'];
  const task = typeof taskId === 'string' ? world.row(Task, taskId, 'refer') : null;
  return task !== null && isTheirs(world, task, userId);
}

export function forbidden(model: Model): Refusal {
  return refuse('forbidden', `Your role does not allow this change to a ${model.name}`);
}
