import { idIn, targetOf, type Model } from '@wts/models';
import { mayName, standing } from './permit.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import type { World } from './world.ts';

/**
 * Whose a record is. `workspaceId` is where it lives, `groupId` whose eyes it is for: the workspace, or the private
 * project it is inside of. Keeps sync.private-project.walls.
 */
export interface Place {
  readonly ok: true;
  readonly workspaceId: string | null;
  readonly groupId: string;
}

/**
 * The place a record with these values has. Parents are held as they are until commit, because the place rests on them.
 * A parent that the caller may not see, or that lives in another workspace than the record names, is answered as one that
 * does not exist.
 */
export function placeOf(
  world: World,
  unit: Unit,
  model: Model,
  id: string,
  values: { readonly [field: string]: unknown },
): Place | Refusal {
  const { audience } = model;
  switch (audience.kind) {
    case 'self':
      return { ok: true, workspaceId: id, groupId: id };
    case 'person':
      return { ok: true, workspaceId: null, groupId: id };
    case 'workspace':
      return inWorkspace(values);
    case 'project':
      // The project itself, or what stands outside of any.
      if (audience.field === 'id')
        return { ...inWorkspace(values), ...(values['isPrivate'] === true && { groupId: id }) };
      if (values[audience.field] === null) return inWorkspace(values);
      break;
    case 'membership':
    case 'parent':
  }
  const { field } = audience;
  const parentModel = targetOf(model, field);
  const parent = world.row(parentModel, idIn(values, field), 'refer');
  const isThere =
    parent !== null &&
    ('workspaceId' in model.fields ? parent.workspaceId === values['workspaceId'] : true) &&
    mayName(world, unit, model, parent);
  const place = isThere ? standing(world, parent) : null;
  return place
    ? { ok: true, workspaceId: place.workspaceId, groupId: place.groupId }
    : missing(field, parentModel.name);
}

function inWorkspace(values: { readonly [field: string]: unknown }): Place {
  const workspaceId = idIn(values, 'workspaceId');
  return { ok: true, workspaceId, groupId: workspaceId };
}

export function missing(field: string, modelName: string): Refusal {
  return refuse('not_found', `${field}: ${modelName} not found`);
}
