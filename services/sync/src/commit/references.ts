import { LIMITS } from '@wts/contracts';
import { Comment, idsIn, targetOf, User, Workspace, type Model, type RecordOf } from '@wts/models';
import { missing } from './audience.ts';
import type { RowOf } from '../store/rows.ts';
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
  { fields, workspaceId, before }: Asked,
): Refusal | null {
  for (const field of fields) {
    if (!model.fields[field]?.reference) continue;
    const held = new Set(before && idsIn(before, field));
    for (const id of idsIn(values, field)) {
      if (held.has(id)) continue;
      const refusal = checkOne(world, unit, model, field, id, workspaceId);
      if (refusal) return refusal;
    }
  }
  return before ? null : checkFamily(world, model, values);
}

interface Asked {
  /** Those that are new or differ. */
  readonly fields: readonly string[];
  readonly workspaceId: string | null;
  /** What it points to already stays, also while that is being swept away. */
  readonly before?: RecordOf<Model>;
}

function checkOne(
  world: World,
  unit: Unit,
  model: Model,
  field: string,
  id: string,
  workspaceId: string | null,
): Refusal | null {
  const target = targetOf(model, field);
  // Belonging to the workspace was asked already, with the place; services name workspaces that exist or are made in the same unit.
  if (target === Workspace) return null;
  if (target === User) return unit.authority === 'service' ? null : checkPerson(world, unit, field, id, workspaceId);
  const row = world.row(target, id, 'refer');
  const isThere = row?.workspaceId === workspaceId && mayName(world, unit, model, row);
  return isThere ? null : missing(field, target.name);
}

/**
 * People must be in the workspace. One who becomes a member of something inside is held in it until commit: who leaves
 * loses what they are a member of then, and a membership made beside would outlive it.
 */
function checkPerson(world: World, unit: Unit, field: string, id: string, workspaceId: string | null): Refusal | null {
  const isMembership = field === 'userId';
  if (workspaceId === null || (id === unit.principal.userId && !isMembership)) return null;
  return roleIn(world, workspaceId, id, isMembership ? 'refer' : 'look') === null
    ? refuse('not_found', `${field}: not a member of the workspace`)
    : null;
}

/** An answer belongs to the task of its comment, and threads have an end; both are fixed from the start. Keeps sync.mutate.comment-depth. */
function checkFamily(world: World, model: Model, values: { readonly [field: string]: unknown }): Refusal | null {
  const parentId = values['parentId'];
  if (model !== Comment || typeof parentId !== 'string') return null;
  const parent = world.row(Comment, parentId, 'refer');
  if (!parent || parent.record.taskId !== values['taskId']) return missing('parentId', 'Comment');
  return depthOf(world, parent) < LIMITS.commentDepthMax
    ? null
    : refuse(
        'validation_failed',
        `parentId: replies nest at most ${LIMITS.commentDepthMax} levels deep; reply to a comment higher up`,
      );
}

/** How many comments lie above, with those that this group has made. */
function depthOf(world: World, comment: RowOf<typeof Comment>): number {
  let depth = 0;
  let row: RowOf<typeof Comment> | null = comment;
  while (row && world.makes(Comment, row.id)) {
    depth += 1;
    const { parentId }: { parentId: string | null } = row.record;
    if (parentId === null) return depth;
    row = world.row(Comment, parentId, 'refer');
  }
  return depth + (row ? world.fact({ kind: 'depth', model: Comment, id: row.id }) : 0);
}
