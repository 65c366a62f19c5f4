import { idIn, targetOf, type Model } from '@wts/models';
import type { Decision } from './decision.ts';
import { notFound } from './refusal.ts';
import { currentLocation, mayName, type Location } from './visibility.ts';

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
