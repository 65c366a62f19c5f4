import { modelNamed, type Model } from '@wts/models';
import { missing } from './audience.ts';
import { mayName, roleIn } from './permit.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import type { World } from './world.ts';

/**
 * Everything a record points to must be there, in the same workspace, and seen by the caller; people must be members.
 * What the caller may not see is answered as what does not exist.
 */
export function checkReferences(
  world: World,
  unit: Unit,
  model: Model,
  values: { readonly [field: string]: unknown },
  fields: readonly string[],
  workspaceId: string | null,
): Refusal | null {
  for (const field of fields) {
    const reference = model.fields[field]?.reference;
    const value = values[field];
    if (!reference || value === null || value === undefined) continue;
    for (const id of reference.many ? (value as string[]) : [value as string]) {
      const refusal = checkOne(world, unit, model, field, id, workspaceId);
      if (refusal) return refusal;
    }
  }
  return checkFamily(world, model, values);
}

function checkOne(
  world: World,
  unit: Unit,
  model: Model,
  field: string,
  id: string,
  workspaceId: string | null,
): Refusal | null {
  const target = model.fields[field]?.reference?.model ?? '';
  // Belonging to the workspace was asked already, with the place; services name workspaces that exist or are made in the same unit.
  if (target === 'Workspace') return null;
  if (target === 'User') return unit.authority === 'service' ? null : checkPerson(world, unit, field, id, workspaceId);
  const row = world.row(modelNamed(target), id, 'refer');
  const isThere = row?.workspaceId === workspaceId && mayName(world, unit, model, row);
  return isThere ? null : missing(field, target);
}

/**
 * People must be in the workspace. One who becomes a member of something inside is held in it until commit: who leaves
 * loses what they are a member of then, and a membership made beside would outlive it.
 */
function checkPerson(world: World, unit: Unit, field: string, id: string, workspaceId: string | null): Refusal | null {
  const isMembership = field === 'userId';
  if (workspaceId === null || (id === unit.principal.userId && !isMembership)) return null;
  return roleIn(world, workspaceId, id, isMembership ? 'refer' : 'look') === null
    ? refuse('not_found', `${field}: no such member of the workspace`)
    : null;
}

/** An answer belongs to the task of its comment. */
function checkFamily(world: World, model: Model, values: { readonly [field: string]: unknown }): Refusal | null {
  const taskId = values['taskId'];
  if (typeof taskId !== 'string') return null;
  const parentId = values['parentId'];
  if (model.name === 'Comment' && typeof parentId === 'string') {
    const parent = world.row(model, parentId, 'refer');
    if (parent?.record['taskId'] !== taskId) return missing('parentId', 'Comment');
  }
  return null;
}
