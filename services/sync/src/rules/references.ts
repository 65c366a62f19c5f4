import { Comment, idsIn, targetOf, User, Workspace, type Model } from '@wts/models';
import type { Row, RowOf } from '../store/rows.ts';
import type { Change } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { notFound, Refused } from '../decision/refusal.ts';
import { mayName, roleIn } from './visibility.ts';
import { SYNC_LIMITS } from '../limits.ts';

/**
 * Every record that a record refers to must exist, in the same workspace, and be visible to the caller; people must be members.
 * A record that the caller may not see is refused like one that does not exist. What it referred to before stays allowed, also while a
 * sweep deletes that.
 */
export function checkReferences(decision: Decision, { model, before, after, changed }: Change): void {
  if (after === null) return;
  const { record } = after;
  for (const field of changed) {
    if (!model.fields[field]?.reference) continue;
    const kept = before && new Set(idsIn(before.record, field));
    const target = targetOf(model, field);
    for (const id of idsIn(record, field)) {
      if (!kept?.has(id)) checkReference(decision, after, { field, target, id });
    }
  }
  if (!before) checkThread(decision, after);
}

interface Reference {
  readonly field: string;
  readonly target: Model;
  readonly id: string;
}

function checkReference(decision: Decision, after: Row, reference: Reference): void {
  const { field, target, id } = reference;
  // `locationOf` has checked the workspace of a caller; services name workspaces that exist or are made in the same unit.
  if (target === Workspace || (target === User && decision.isByService)) return;
  if (target === User) return checkPerson(decision, after, reference);
  const row = decision.row(target, id, 'refer');
  if (row?.workspaceId !== after.workspaceId || !mayName(decision, after.model, row))
    throw notFound(field, target.name);
}

/**
 * People must be in the workspace. The workspace membership of a person who becomes a member of a team or a project is locked
 * until commit: a person who leaves loses all such memberships, and one that is made at the same time would stay.
 */
function checkPerson(decision: Decision, { workspaceId }: Row, { field, id }: Reference): void {
  const isMembership = field === 'userId';
  if (workspaceId === null || (id === decision.userId && !isMembership)) return;
  if (roleIn(decision, workspaceId, id, isMembership ? 'refer' : 'look') === null)
    throw new Refused('not_found', `${field}: not a member of the workspace`);
}

/** A reply belongs to the task of its comment, and the depth of threads is limited; both are immutable. Keeps sync.mutate.comment-depth. */
function checkThread(decision: Decision, { model, record }: Row): void {
  const parentId = record['parentId'];
  if (model !== Comment || typeof parentId !== 'string') return;
  const parent = decision.row(Comment, parentId, 'refer');
  if (!parent || parent.record.taskId !== record['taskId']) throw notFound('parentId', 'Comment');
  if (depthOf(decision, parent) >= SYNC_LIMITS.commentDepthMax)
    throw new Refused(
      'validation_failed',
      `parentId: replies nest at most ${SYNC_LIMITS.commentDepthMax} levels deep; reply to a comment higher up`,
    );
}

/** The number of comments from this one to the top, with those that this batch writes. */
function depthOf(decision: Decision, comment: RowOf<typeof Comment>): number {
  let depth = 0;
  let row: RowOf<typeof Comment> | null = comment;
  while (row && decision.changes.isWritten(Comment, row.id)) {
    depth += 1;
    const { parentId }: { parentId: string | null } = row.record;
    if (parentId === null) return depth;
    row = decision.row(Comment, parentId, 'refer');
  }
  return depth + (row ? decision.reads.fact({ kind: 'depth', model: Comment, id: row.id }) : 0);
}
