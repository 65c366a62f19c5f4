import { randomUUID } from 'node:crypto';
import type { ActionName } from '@wts/contracts';
import {
  buildRecord,
  differences,
  ERASED_PERSON,
  isOf,
  Project,
  ProjectMember,
  Task,
  User,
  WorkspaceMember,
  type Model,
  type RecordOf,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Change, RowChange } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { lockDescendants } from './descendants.ts';
import { roleIn } from './visibility.ts';

/*
 * The entries of the log that a changed record gets. Each entry belongs to exactly one group; a change that concerns several
 * groups has several adjacent entries:
 * - a person: one for their own group and one for each workspace that sees them;
 * - a membership that gives access to a group: one for that group and one for the person's own. The person's own is last for a
 *   gain and first for a loss, so the person receives each change once;
 * - a record that moves between a workspace and a private project: a DELETE in one group and an INSERT in the other.
 *
 * Keeps sync.action.group.
 */

export function insertRow(decision: Decision, row: Row): void {
  insertCopy(decision, row);
  ensureMembers(decision, row);
}

/** A record of another cell, whose members come as records of their own. */
export function insertCopy(decision: Decision, row: Row): void {
  decision.changes.put(row);
  showPerson(decision, row);
  addEntries(decision, row, 'INSERT');
  if (row.model === User) decision.changes.joinAudience(row.id, row.id);
}

/** A record of another cell that changed its group there, without what is in it. */
export function moveCopy(decision: Decision, before: Row, after: Row): void {
  addDeletions(decision, before);
  decision.changes.put(after);
  addEntries(decision, after, 'INSERT');
}

/** What a workspace that arrives sees of a person who left it. */
export function freezeCopy(decision: Decision, person: Row, groupId: string): void {
  const { frozen } = decision.audiences(person.id);
  decision.changes.freezeAudience(person.id, groupId, person.text);
  addPerson(decision, person, groupId, frozen.has(groupId));
}

/** Changes a record, and its group where that differs. */
export function changeRow(decision: Decision, change: RowChange): void {
  const { before, after, changed } = change;
  if (after.groupId !== before.groupId) return moveRow(decision, change);
  updateRow(decision, before, after, changed);
  if (changed.includes('leadId')) ensureMembers(decision, after);
}

/** Changes values that follow from another change, such as a rank. */
export function changeValues<Contents extends RecordOf<Model>>(
  decision: Decision,
  before: Row<Contents>,
  values: Partial<NoInfer<Contents>>,
): void {
  const { model, id, record } = before;
  const changed = differences(model, record, values);
  if (changed.length === 0) return;
  const next = buildRecord(model, id, { ...record, ...values }, { ...record, updatedAt: decision.now });
  changeRow(decision, { before, after: { ...before, record: next, text: JSON.stringify(next) }, changed });
}

/** When the parent of the record was moved and the sweep has not moved the record yet, the record is moved first. */
export function archiveRow(
  decision: Decision,
  { before, after, action }: Pick<RowChange, 'before' | 'after'> & Pick<Change, 'action'>,
): void {
  const { groupId, record } = after;
  const { archivedAt } = record;
  if (groupId !== before.groupId) moveRow(decision, { before, after: { ...before, groupId }, changed: [] });
  const next: Row = { ...after, text: JSON.stringify(record) };
  decision.changes.put(next);
  addEntry(decision, next, action, { data: JSON.stringify({ archivedAt }), changed: ['archivedAt'] });
}

/** Changes a record within its group. */
export function updateRow(decision: Decision, before: Row, after: Row, changed: readonly string[]): void {
  const groups = groupsOf(decision, before);
  decision.changes.put(after);
  const data = changedData(after.record, changed);
  const completes = isDone(after) && !isDone(before);
  for (const groupId of groups) addEntry(decision, after, 'UPDATE', { groupId, data, changed, completes });
  eraseCopies(decision, after);
}

/**
 * A service that erases a person erases what workspaces keep of them too; no other change of a person reaches a workspace that they left.
 * These copies may differ from the record in any field. Keeps sync.people.erased.
 */
function eraseCopies(decision: Decision, { id, ...person }: Row): void {
  if (!decision.isByService || person.model !== User) return;
  const changed = Object.keys(ERASED_PERSON);
  if (!Object.entries(ERASED_PERSON).every(([field, value]) => person.record[field] === value)) return;
  const data = changedData(person.record, changed);
  for (const groupId of decision.audiences(id).frozen) {
    decision.changes.freezeAudience(id, groupId, person.text);
    addEntry(decision, { id, ...person }, 'UPDATE', { groupId, data, changed });
  }
}

function isDone({ model, record }: Row): boolean {
  return model === Task ? record['completedAt'] !== null : model === Project && record['status'] === 'done';
}

export function deleteRow(decision: Decision, row: Row): void {
  addDeletions(decision, row);
  decision.changes.remove(row);
  freezePerson(decision, row);
}

/**
 * Changes the group of a record and its descendants: a task moves into or out of a private project, or a project becomes private
 * or public. First all are deleted in the old group, children before parents; then they are inserted in the new one. When there
 * are too many for one commit, only the record moves and a sweep moves its descendants. Until the sweep has moved a descendant, the
 * rules use the location of the moved record for it (`currentLocation` in `visibility.ts`).
 */
function moveRow(decision: Decision, { before, after, changed }: RowChange): void {
  const { model, id: rootId, workspaceId } = before;
  const { changes, userId: actorId } = decision;
  const [extent] = decision.extents('move', model, [rootId]);
  const isWhole = extent === undefined || decision.reserveCascade(extent);
  if (!isWhole) changes.addSweep({ kind: 'move', model, rootId, workspaceId, userId: null, actorId });
  const rows = (isWhole ? lockDescendants(decision, before) : [before]).filter(
    ({ groupId }) => groupId !== after.groupId,
  );
  for (const row of rows) addDeletions(decision, row);
  changes.put(after);
  addEntries(decision, after, 'INSERT', changed);
  const moved = rows
    .toReversed()
    .filter((row) => row !== before)
    .map((child): Row => ({ ...child, groupId: after.groupId }));
  for (const child of moved) changes.put(child);
  ensureMembers(decision, after);
  for (const child of moved) addEntries(decision, child, 'INSERT');
}

/** The groups that get an entry of this record, the person's own last. */
function groupsOf(decision: Decision, row: Row): string[] {
  if (row.model === User)
    return [...decision.audiences(row.id).live].filter((group) => group !== row.id).concat(row.id);
  const person = personWithAccess(row);
  return person === null ? [row.groupId] : [row.groupId, person];
}

/** The person to whom the row gives access to its group: that of a membership of a workspace or of a private project. */
function personWithAccess(row: Row): string | null {
  if (isOf(row, WorkspaceMember)) return row.record.userId;
  return isOf(row, ProjectMember) && row.groupId === row.record.projectId ? row.record.userId : null;
}

/**
 * The entry of the person, which comes before the entry of a new membership, because the other members may not have the person's
 * record. For a person who was a member before, it is an UPDATE with all fields: readers have the record as it was when the person
 * left this or another workspace.
 */
function showPerson(decision: Decision, row: Row): void {
  if (!isOf(row, WorkspaceMember)) return;
  const { groupId } = row;
  const { userId } = row.record;
  const { live, frozen } = decision.audiences(userId);
  if (live.has(groupId)) return;
  const person = decision.row(User, userId, 'refer');
  if (!person) return;
  decision.changes.joinAudience(userId, groupId);
  addPerson(decision, person, groupId, frozen.has(groupId));
}

/** The whole of a person, for a group that has them as they were, or not yet. */
function addPerson(decision: Decision, person: Row, groupId: string, isKnown: boolean): void {
  if (!isKnown) return addEntry(decision, person, 'INSERT', { groupId });
  const { id: _id, createdAt: _createdAt, ...data } = person.record;
  addEntry(decision, person, 'UPDATE', { groupId, data: JSON.stringify(data), changed: Object.keys(User.fields) });
}

/**
 * A workspace keeps what it sees of a person who leaves, without the e-mail address. A reader who is in another workspace of the
 * person gets the address back with the entries that follow. These are left out when the person is in more workspaces than a
 * commit may change, because it must be possible to remove any member. See infra/decisions/0004-who-sees-people.md. Keeps
 * sync.people.frozen and sync.mutate.always.
 */
function freezePerson(decision: Decision, row: Row): void {
  if (!isOf(row, WorkspaceMember)) return;
  const { groupId } = row;
  const { userId } = row.record;
  if (!decision.audiences(userId).live.has(groupId)) return;
  const person = decision.row(User, userId, 'refer');
  if (!person) return;
  const frozen = { ...person.record, email: null };
  const text = JSON.stringify(frozen);
  decision.changes.freezeAudience(userId, groupId, text);
  if (person.record.email === null) return;
  const changed = ['email'];
  addEntry(decision, { ...person, record: frozen, text }, 'UPDATE', {
    groupId,
    data: changedData(frozen, changed),
    changed,
  });
  const data = changedData(person.record, changed);
  const others = groupsOf(decision, person);
  const reached = others.length > decision.bounds.recordsMax ? [person.id] : others;
  for (const other of reached) addEntry(decision, person, 'UPDATE', { groupId: other, data, changed });
}

/**
 * The creator and the lead of a private project, and the person who makes it private, are its members as long as they are in the
 * workspace. So no other person can hide the project from them. A service is not a person and becomes no member. Keeps
 * sync.private-project.keepers.
 */
function ensureMembers(decision: Decision, project: Row): void {
  if (!isOf(project, Project) || project.groupId !== project.id) return;
  const { creatorId, leadId } = project.record;
  const people = new Set([decision.userId, creatorId, leadId].filter((id) => id !== null));
  for (const userId of people) ensureMember(decision, project, userId);
}

function ensureMember(decision: Decision, { id: projectId, workspaceId }: Row, userId: string): void {
  const { now, changes } = decision;
  if (roleIn(decision, workspaceId ?? '', userId, 'refer') === null) return;
  const [member] = decision.related(
    { model: ProjectMember, field: 'projectId', value: projectId, and: { field: 'userId', value: userId } },
    'write',
  );
  if (member?.groupId === projectId) return;
  if (member) addEntry(decision, member, 'DELETE', { data: '{}' });
  const times = { createdAt: now, updatedAt: now };
  const record = member?.record ?? buildRecord(ProjectMember, randomUUID(), { projectId, userId }, times);
  const text = member?.text ?? JSON.stringify(record);
  const row: Row = { model: ProjectMember, id: record.id, workspaceId, groupId: projectId, record, text };
  changes.put(row);
  addEntries(decision, row, 'INSERT');
}

/** One entry for each group. */
function addEntries(decision: Decision, row: Row, action: ActionName, changed: readonly string[] = []): void {
  for (const groupId of groupsOf(decision, row)) addEntry(decision, row, action, { groupId, changed });
}

function addDeletions(decision: Decision, row: Row): void {
  for (const groupId of groupsOf(decision, row).toReversed())
    addEntry(decision, row, 'DELETE', { groupId, data: '{}' });
}

function addEntry(
  decision: Decision,
  row: Row,
  action: ActionName,
  more: { groupId?: string; data?: string; changed?: readonly string[]; completes?: boolean },
): void {
  const { groupId = row.groupId, data = null, changed = [], completes = false } = more;
  const { model, id, record, text } = row;
  // A person has no workspace; the entry for the group of a workspace belongs to that workspace.
  const workspaceId = model === User && groupId !== id ? groupId : row.workspaceId;
  decision.add({ model, id, action, groupId, workspaceId, record, text, data, changed, completes });
}

/** The data of an UPDATE. Keeps sync.action.update-changed-only: the changed fields and `updatedAt`. */
function changedData(record: RecordOf<Model>, changed: readonly string[]): string {
  const data: Record<string, unknown> = {};
  for (const name of changed) data[name] = record[name];
  data['updatedAt'] = record.updatedAt;
  return JSON.stringify(data);
}
