import { idIn, targetOf, type Model } from '@wts/models';
import type { DecisionState } from './decision-state.ts';
import { currentLocation, mayName } from './permissions.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';

/**
 * Where a record belongs: `workspaceId` is its workspace, `groupId` the group that sees it: the workspace, or the private
 * project that the record is in. Keeps sync.private-project.walls.
 */
export interface Location {
  readonly ok: true;
  readonly workspaceId: string | null;
  readonly groupId: string;
}

/**
 * The location of a record with these values. Its parent is locked until commit, because the location depends on it. A parent
 * that the caller may not see, or that is in another workspace than the record names, is refused like one that does not exist.
 */
export function locationOf(
  state: DecisionState,
  unit: Unit,
  model: Model,
  record: { readonly [field: string]: unknown },
): Location | Refusal {
  const { audience } = model;
  switch (audience.kind) {
    case 'self': {
      const id = idIn(record, 'id');
      return { ok: true, workspaceId: id, groupId: id };
    }
    case 'person':
      return { ok: true, workspaceId: null, groupId: idIn(record, 'id') };
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
  const parent = state.row(parentModel, idIn(record, field), 'refer');
  const isFound =
    parent !== null &&
    ('workspaceId' in model.fields ? parent.workspaceId === record['workspaceId'] : true) &&
    mayName(state, unit, model, parent);
  const location = isFound ? currentLocation(state, parent) : null;
  return location
    ? { ok: true, workspaceId: location.workspaceId, groupId: location.groupId }
    : notFound(field, parentModel.name);
}

function inWorkspace(record: { readonly [field: string]: unknown }): Location {
  const workspaceId = idIn(record, 'workspaceId');
  return { ok: true, workspaceId, groupId: workspaceId };
}

export function notFound(field: string, modelName: string): Refusal {
  return refuse('not_found', `${field}: ${modelName} not found`);
}
