import { can } from '@wts/access';
import type { Role } from '@wts/contracts';
import { idIn, ProjectMember, targetOf, WorkspaceMember, type Model } from '@wts/models';
import { isForWorkspace, seesGroup } from '@wts/read-model';
import type { Row } from '../store/rows.ts';
import type { Decision } from '../decision/decision.ts';
import { within } from '../decision/lookup.ts';
import { notFound } from '../decision/refusal.ts';

/**
 * Where a record belongs: `workspaceId` is its workspace, `groupId` the group that sees it: the workspace, or the private project that
 * the record is in.
 */
export type Location = Pick<Row, 'workspaceId' | 'groupId'>;

/**
 * The role of a person in a workspace; null when they are not in it. `refer` locks the membership until commit; `look` assumes that
 * it is still the same at commit, which blocks no other transaction.
 */
export function roleIn(
  decision: Decision,
  workspaceId: string,
  userId: string,
  lock: 'look' | 'refer' = 'look',
): Role | null {
  const all = { model: WorkspaceMember, field: 'userId', value: userId };
  // Without a lock all memberships of the person are read, for the cache, unless those are too many.
  const readsAll = lock === 'look' && !decision.reads.isExcess(all);
  const memberships = decision.related(readsAll ? all : within(workspaceId, all), lock);
  const membership = memberships.find(({ record }) => record.workspaceId === workspaceId);
  if (membership && lock === 'look') decision.changes.assumeUnchanged(membership);
  return membership?.record.role ?? null;
}

export function callerRole(decision: Decision, { workspaceId }: Row): Role | null {
  return workspaceId === null ? null : roleIn(decision, workspaceId, decision.userId);
}

function isProjectMember(decision: Decision, projectId: string): boolean {
  // Not all memberships of the person: others can add a person to any number of projects.
  const [membership] = decision.related(
    { model: ProjectMember, field: 'userId', value: decision.userId, and: { field: 'projectId', value: projectId } },
    'look',
  );
  if (membership) decision.changes.assumeUnchanged(membership);
  return membership !== undefined;
}

/**
 * Whether the caller may see records at this location. A private project is visible to its members only, whatever their role.
 *
 * Keeps never.shown-outside.
 */
function sees(decision: Decision, location: Location): boolean {
  if (decision.isByService) return true;
  const caller = {
    userId: decision.userId,
    isInWorkspace: (id: string) => belongsTo(decision, id),
    isInProject: (id: string) => isProjectMember(decision, id),
  };
  return seesGroup(caller, location);
}

/** Whether the caller is in the workspace, and the credential is valid for it. */
export function belongsTo(decision: Decision, workspaceId: string): boolean {
  if (decision.isByService) return true;
  const { principal } = decision.unit;
  return isForWorkspace(principal, workspaceId) && roleIn(decision, workspaceId, principal.userId) !== null;
}

/**
 * Whether the caller may name this record in a record of `model`. Managers of a workspace may name a private project in its
 * memberships without seeing it: otherwise a project without members would be lost. During a sweep the current location counts.
 */
export function mayName(decision: Decision, model: Model, target: Row): boolean {
  const location = currentLocation(decision, target);
  if (!location) return false;
  return sees(decision, location) || (model.permissions.insert === 'project' && managesWorkspace(decision, target));
}

function managesWorkspace(decision: Decision, row: Row): boolean {
  if (row.workspaceId === null || !belongsTo(decision, row.workspaceId)) return false;
  const role = callerRole(decision, row);
  return role !== null && can(role, 'manage');
}

/**
 * The location of a record by its parents, which are locked until commit; null when a parent is deleted. It differs from the row
 * while a sweep is moving the descendants of a record: callers who do not see the new location can no longer change the record, and
 * new children get the new location.
 *
 * Keeps never.shown-outside.
 */
export function currentLocation(decision: Decision, row: Row): Location | null {
  const { audience } = row.model;
  // A workspace never changes its group.
  if (!('field' in audience) || audience.field === 'id' || audience.field === 'workspaceId') return row;
  const parentId = row.record[audience.field];
  if (typeof parentId !== 'string') return row;
  const parent = decision.row(targetOf(row.model, audience.field), parentId, 'refer');
  return parent && currentLocation(decision, parent);
}

/**
 * The location of a record with these values. Its parent is locked until commit, because the location depends on it. A parent
 * that the caller may not see, or that is in another workspace than the record names, is refused like one that does not exist.
 * Keeps sync.private-project.walls.
 */
export function locationOf(decision: Decision, model: Model, record: { readonly [field: string]: unknown }): Location {
  const { audience } = model;
  switch (audience.kind) {
    case 'self': {
      const id = idIn(record, 'id');
      return { workspaceId: id, groupId: id };
    }
    case 'person':
      return { workspaceId: null, groupId: idIn(record, 'id') };
    case 'workspace':
      return inWorkspace(record);
    case 'project':
      // The project itself, or a record in no project.
      if (audience.field === 'id')
        return { ...inWorkspace(record), ...(record['isPrivate'] === true && { groupId: idIn(record, 'id') }) };
      if (record[audience.field] === null) return inWorkspace(record);
      break;
    case 'membership':
    case 'parent':
  }
  const { field } = audience;
  const parentModel = targetOf(model, field);
  const parent = decision.row(parentModel, idIn(record, field), 'refer');
  const isFound =
    parent !== null &&
    ('workspaceId' in model.fields ? parent.workspaceId === record['workspaceId'] : true) &&
    mayName(decision, model, parent);
  const location = isFound ? currentLocation(decision, parent) : null;
  if (!location) throw notFound(field, parentModel.name);
  return { workspaceId: location.workspaceId, groupId: location.groupId };
}

function inWorkspace(record: { readonly [field: string]: unknown }): Location {
  const workspaceId = idIn(record, 'workspaceId');
  return { workspaceId, groupId: workspaceId };
}
