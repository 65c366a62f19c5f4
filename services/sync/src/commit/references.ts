import { Comment, idsIn, targetOf, User, Workspace, type Model, type RecordOf } from '@wts/models';
import type { Row, RowOf } from '../store/rows.ts';
import type { DecisionState } from './decision-state.ts';
import { notFound } from './location.ts';
import { mayName, roleIn } from './permissions.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import { SYNC_LIMITS } from '../limits.ts';

/**
 * Every record that a record refers to must exist, in the same workspace, and be visible to the caller; people must be members.
 * A record that the caller may not see is refused like one that does not exist.
 */
export function checkReferences(
  state: DecisionState,
  unit: Unit,
  after: Row,
  { fields, before }: ChangedFields,
): Refusal | null {
  const { model, record } = after;
  for (const field of fields) {
    if (!model.fields[field]?.reference) continue;
    const kept = before && new Set(idsIn(before, field));
    const target = targetOf(model, field);
    for (const id of idsIn(record, field)) {
      if (kept?.has(id)) continue;
      const refusal = checkReference(state, unit, after, { field, target, id });
      if (refusal) return refusal;
    }
  }
  return before ? null : checkThread(state, after);
}

interface ChangedFields {
  /** Fields that are new or differ. */
  readonly fields: readonly string[];
  /** What it referred to before stays allowed, also while a sweep deletes that. */
  readonly before?: RecordOf<Model>;
}

interface Reference {
  readonly field: string;
  readonly target: Model;
  readonly id: string;
}

function checkReference(state: DecisionState, unit: Unit, after: Row, reference: Reference): Refusal | null {
  const { field, target, id } = reference;
  // `locationOf` has checked the workspace of a caller; services name workspaces that exist or are made in the same unit.
  if (target === Workspace) return null;
  if (target === User) return unit.authority === 'service' ? null : checkPerson(state, unit, after, reference);
  const row = state.row(target, id, 'refer');
  const isFound = row?.workspaceId === after.workspaceId && mayName(state, unit, after.model, row);
  return isFound ? null : notFound(field, target.name);
}

/**
 * People must be in the workspace. The workspace membership of a person who becomes a member of a team or a project is locked
 * until commit: a person who leaves loses all such memberships, and one that is made at the same time would stay.
 */
function checkPerson(state: DecisionState, unit: Unit, { workspaceId }: Row, { field, id }: Reference): Refusal | null {
  const isMembership = field === 'userId';
  if (workspaceId === null || (id === unit.principal.userId && !isMembership)) return null;
  return roleIn(state, workspaceId, id, isMembership ? 'refer' : 'look') === null
    ? refuse('not_found', `${field}: not a member of the workspace`)
    : null;
}

/** A reply belongs to the task of its comment, and the depth of threads is limited; both are immutable. Keeps sync.mutate.comment-depth. */
function checkThread(state: DecisionState, { model, record }: Row): Refusal | null {
  const parentId = record['parentId'];
  if (model !== Comment || typeof parentId !== 'string') return null;
  const parent = state.row(Comment, parentId, 'refer');
  if (!parent || parent.record.taskId !== record['taskId']) return notFound('parentId', 'Comment');
  return depthOf(state, parent) < SYNC_LIMITS.commentDepthMax
    ? null
    : refuse(
        'validation_failed',
        `parentId: replies nest at most ${SYNC_LIMITS.commentDepthMax} levels deep; reply to a comment higher up`,
      );
}

/** The number of comments from this one to the top, with those that this batch writes. */
function depthOf(state: DecisionState, comment: RowOf<typeof Comment>): number {
  let depth = 0;
  let row: RowOf<typeof Comment> | null = comment;
  while (row && state.isWritten(Comment, row.id)) {
    depth += 1;
    const { parentId }: { parentId: string | null } = row.record;
    if (parentId === null) return depth;
    row = state.row(Comment, parentId, 'refer');
  }
  return depth + (row ? state.fact({ kind: 'depth', model: Comment, id: row.id }) : 0);
}
