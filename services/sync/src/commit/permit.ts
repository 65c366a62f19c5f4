import type { Role } from '@wts/contracts';
import { modelNamed, type Model, type Permission } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import type { World } from './world.ts';

const WorkspaceMember = modelNamed('WorkspaceMember');
const ProjectMember = modelNamed('ProjectMember');
const Project = modelNamed('Project');
const Task = modelNamed('Task');

/** The role of a person in a workspace; null when they are not in it. */
export function roleIn(world: World, workspaceId: string, userId: string): Role | null {
  const membership = world
    .related(WorkspaceMember, 'userId', userId, 'look')
    .find(({ record }) => record['workspaceId'] === workspaceId);
  return (membership?.record['role'] as Role | undefined) ?? null;
}

export function isProjectMember(world: World, projectId: string, userId: string): boolean {
  return world.related(ProjectMember, 'userId', userId, 'look').some(({ record }) => record['projectId'] === projectId);
}

/** Whether the caller may see what stands at this place. A private project is for its members only, whatever their role. */
export function sees(world: World, unit: Unit, place: { workspaceId: string | null; groupId: string }): boolean {
  const { userId, workspaceId: onlyWorkspace } = unit.principal;
  if (unit.authority === 'service') return true;
  if (place.workspaceId === null) return place.groupId === userId;
  if (onlyWorkspace !== undefined && onlyWorkspace !== place.workspaceId) return false;
  if (roleIn(world, place.workspaceId, userId) === null) return false;
  return place.groupId === place.workspaceId || isProjectMember(world, place.groupId, userId);
}

/**
 * Whether the caller may make this change; null when they may. What they may not even see is answered as not there.
 * `row` is the record as it is, or as it would be for an INSERT.
 */
export function permit(world: World, unit: Unit, row: Row, action: 'insert' | 'update' | 'delete'): Refusal | null {
  if (unit.authority === 'service') return null;
  const { model } = row;
  const needed = model.permissions[action];
  // Managing who sees a private project does not need seeing it: otherwise a project without members were lost.
  if (!sees(world, unit, row) && !(needed === 'project' && managesPlace(world, unit, row))) {
    return refuse('not_found', action === 'insert' ? 'workspaceId: no such Workspace' : `${model.name} not found`);
  }
  if (needed === 'self') return row.id === unit.principal.userId ? null : forbidden(model);
  const role = row.workspaceId === null ? null : roleIn(world, row.workspaceId, unit.principal.userId);
  return role !== null && holds(world, unit, row, role, needed) ? null : forbidden(model);
}

function holds(world: World, unit: Unit, row: Row, role: Role, needed: Permission): boolean {
  const { userId } = unit.principal;
  const manages = role === 'owner' || role === 'admin';
  switch (needed) {
    case 'service':
      return false;
    case 'manage':
      return manages;
    case 'contribute':
      return role !== 'guest';
    case 'own':
      return role !== 'guest' || isTheirs(world, row, userId);
    case 'anyone':
      return true;
    case 'author':
      return isTheirs(world, row, userId);
    case 'author_or_manage':
      return manages || isTheirs(world, row, userId);
    case 'self':
    case 'self_or_manage':
      return manages || row.record['userId'] === userId;
    case 'project':
      return manages || isTheirs(world, world.row(Project, row.record['projectId'] as string, 'refer') ?? row, userId);
  }
}

function managesPlace(world: World, unit: Unit, row: Row): boolean {
  const { userId, workspaceId: onlyWorkspace } = unit.principal;
  if (row.workspaceId === null || (onlyWorkspace !== undefined && onlyWorkspace !== row.workspaceId)) return false;
  const role = roleIn(world, row.workspaceId, userId);
  return role === 'owner' || role === 'admin';
}

/** Created by them, assigned to them, or a part of such a task. */
function isTheirs(world: World, row: Row, userId: string): boolean {
  if (row.model.owners.length > 0) return row.model.owners.some((field) => row.record[field] === userId);
  const taskId = row.record['taskId'];
  const task = typeof taskId === 'string' ? world.row(Task, taskId, 'refer') : null;
  return task !== null && isTheirs(world, task, userId);
}

function forbidden(model: Model): Refusal {
  return refuse('forbidden', `Your role does not allow this change of a ${model.name}`);
}
