import { isDeepStrictEqual } from 'node:util';
import { isOf, User, WorkspaceMember, type RecordOf, type Model } from '@wts/models';
import { keyTaken } from '../store/conflicts.ts';
import type { Row } from '../store/rows.ts';
import type { Decision } from '../decision/decision.ts';
import { deleteRow, freezeCopy, insertCopy, moveCopy, updateRow } from './effects.ts';
import { otherHolder } from './keys.ts';
import { forEachCollecting } from '../decision/lookup.ts';
import { Refused } from '../decision/refusal.ts';
import type { LeaveStep, PutRecord, PutStep } from '../decision/unit.ts';

/*
 * What another cell has decided: records are as they are there. No rule decides again, and nothing cascades, because each record that
 * changed there is put by itself. A record that is equal gets no entry, so a put may be repeated. Keeps cells.move.equal.
 */

export function decidePutStep(decision: Decision, { workspaceId, records }: PutStep): void {
  forEachCollecting(records, (one) => {
    if (one.isFrozen) putFrozen(decision, one);
    else put(decision, workspaceId, one);
  });
}

function put(decision: Decision, workspaceId: string | null, { model, id, groupId, record }: PutRecord): void {
  const before = decision.row(model, id, 'write');
  // Ids are chosen by clients: one of another workspace of this cell stays as it is. Keeps cells.move.foreign.
  if (before !== null && before.workspaceId !== workspaceId)
    throw new Refused('conflict', ofAnotherWorkspace(model, id));
  if (record === null) {
    if (before !== null) deleteRow(decision, before);
    return;
  }
  const after: Row = { model, id, groupId, workspaceId, record, text: JSON.stringify(record) };
  freeKeys(decision, before, after);
  if (before === null) {
    requirePerson(decision, after);
    insertCopy(decision, after);
  } else if (before.groupId !== groupId) moveCopy(decision, before, after);
  else {
    const changed = changedFields(before.record, record);
    if (changed !== null) updateRow(decision, before, after, changed);
  }
}

export function ofAnotherWorkspace({ name }: Model, id: string): string {
  return `Another workspace of this cell has a ${name} with the id ${id}`;
}

/** Null: the records are equal. */
function changedFields(before: RecordOf<Model>, after: RecordOf<Model>): string[] | null {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const read = (record: object, name: string): unknown => (record as { readonly [field: string]: unknown })[name];
  const changed = [...names].filter((name) => !isDeepStrictEqual(read(before, name), read(after, name)));
  // Every UPDATE has it.
  return changed.length === 0 ? null : changed.filter((name) => name !== 'updatedAt');
}

/**
 * A record of the same workspace that has a unique value of this one is of an earlier state: what became of it in the other cell is put
 * after this, because there two records cannot have the value either.
 */
function freeKeys(decision: Decision, before: Row | null, after: Row): void {
  for (const fields of after.model.unique) {
    const holderId = otherHolder(decision, fields, before, after);
    const holder = holderId === null ? null : decision.row(after.model, holderId, 'write');
    if (holder === null) continue;
    const { code, error } = keyTaken(after.model, fields);
    if (holder.workspaceId !== after.workspaceId) throw new Refused(code, error);
    deleteRow(decision, holder);
  }
}

function requirePerson(decision: Decision, row: Row): void {
  if (!isOf(row, WorkspaceMember) || decision.row(User, row.record.userId, 'refer') !== null) return;
  throw new Refused('conflict', ofMissingPerson(row.record.userId));
}

export function ofMissingPerson(userId: string): string {
  return `The person ${userId} is not in this cell yet`;
}

function putFrozen(decision: Decision, { model, id, groupId, record }: PutRecord): void {
  if (record === null || decision.audiences(id).live.has(groupId)) return;
  freezeCopy(decision, { model, id, groupId, workspaceId: null, record, text: JSON.stringify(record) }, groupId);
}

/** Its people lose a workspace that has moved, as if they were removed from it; their memberships inside go with the copy. */
export function decideLeaveStep(decision: Decision, { memberIds }: LeaveStep): void {
  forEachCollecting(memberIds, (id) => {
    const row = decision.row(WorkspaceMember, id, 'write');
    if (row !== null) deleteRow(decision, row);
  });
}
