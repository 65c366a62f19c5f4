import { modelNamed, type Model } from '@wts/models';
import { missing } from './audience.ts';
import { roleIn, sees } from './permit.ts';
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
      const refusal = checkOne(world, unit, field, reference.model, id, workspaceId);
      if (refusal) return refusal;
    }
  }
  return checkFamily(world, model, values);
}

function checkOne(
  world: World,
  unit: Unit,
  field: string,
  target: string,
  id: string,
  workspaceId: string | null,
): Refusal | null {
  // Belonging to the workspace was asked already, by permission; services name workspaces that exist or are made in the same unit.
  if (target === 'Workspace') return null;
  if (target === 'User') {
    if (unit.authority === 'service' || workspaceId === null || id === unit.principal.userId) return null;
    return roleIn(world, workspaceId, id) === null
      ? refuse('not_found', `${field}: no such member of the workspace`)
      : null;
  }
  const row = world.row(modelNamed(target), id, 'refer');
  if (row === null || row.workspaceId !== workspaceId || !sees(world, unit, row)) return missing(field, target);
  return null;
}

/** A part belongs to the workspace of its whole, an answer to the task of its comment. */
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
