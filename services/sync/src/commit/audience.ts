import { modelNamed, type Model } from '@wts/models';
import { refuse, type Refusal } from './refusal.ts';
import type { World } from './world.ts';

/**
 * Whose a record is. `workspaceId` is where it lives, `groupId` whose eyes it is for: the workspace, or the private
 * project it is inside of.
 */
export interface Place {
  readonly ok: true;
  readonly workspaceId: string | null;
  readonly groupId: string;
}

const Project = modelNamed('Project');

/** The place a record with these values has. Parents are held as they are until commit, because the place rests on them. */
export function placeOf(
  world: World,
  model: Model,
  id: string,
  values: { readonly [field: string]: unknown },
): Place | Refusal {
  const workspaceId = values['workspaceId'] as string;
  const { audience } = model;
  switch (audience.kind) {
    case 'self':
      return { ok: true, workspaceId: id, groupId: id };
    case 'person':
      return { ok: true, workspaceId: null, groupId: id };
    case 'workspace':
      return { ok: true, workspaceId, groupId: workspaceId };
    case 'project': {
      if (audience.field === 'id')
        return { ok: true, workspaceId, groupId: values['isPrivate'] === true ? id : workspaceId };
      const projectId = values[audience.field] as string | null;
      if (projectId === null) return { ok: true, workspaceId, groupId: workspaceId };
      const project = world.row(Project, projectId, 'refer');
      return project ? { ok: true, workspaceId, groupId: project.groupId } : missing(audience.field, 'Project');
    }
    case 'membership':
    case 'parent': {
      const parentModel = modelNamed(model.fields[audience.field]?.reference?.model ?? '');
      const parent = world.row(parentModel, values[audience.field] as string, 'refer');
      return parent
        ? { ok: true, workspaceId: parent.workspaceId, groupId: parent.groupId }
        : missing(audience.field, parentModel.name);
    }
  }
}

export function missing(field: string, modelName: string): Refusal {
  return refuse('not_found', `${field}: no such ${modelName}`);
}
