import { randomUUID } from 'node:crypto';
import type { ActionName } from '@wts/contracts';
import {
  buildRecord,
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
import type { DecisionState } from './decision-state.ts';
import { lockDescendants } from './descendants.ts';
import { roleIn } from './permissions.ts';
import type { Effect, Unit } from './unit.ts';

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

export function insertRow(state: DecisionState, unit: Unit, row: Row): Effect[] {
  state.put(row);
  const effects = [
    ...showPerson(state, row),
    ...groupsOf(state, row).map((groupId) => effectOf(row, 'INSERT', { groupId })),
  ];
  if (row.model === User) state.joinAudience(row.id, row.id);
  return [...effects, ...ensureMembers(state, unit, row)];
}

/** Changes a record within its group. */
export function updateRow(state: DecisionState, before: Row, after: Row, changed: readonly string[]): Effect[] {
  state.put(after);
  const data = changedData(after.record, changed);
  const completes = isDone(after) && !isDone(before);
  return groupsOf(state, before).map((groupId) => effectOf(after, 'UPDATE', { groupId, data, changed, completes }));
}

function isDone({ model, record }: Row): boolean {
  return model === Task ? record['completedAt'] !== null : model === Project && record['status'] === 'done';
}

export function deleteRow(state: DecisionState, row: Row): Effect[] {
  const groups = groupsOf(state, row).toReversed();
  state.remove(row);
  return [...groups.map((groupId) => effectOf(row, 'DELETE', { groupId, data: '{}' })), ...freezePerson(state, row)];
}

/**
 * Changes the group of a record and its descendants: a task moves into or out of a private project, or a project becomes private
 * or public. First all are deleted in the old group, children before parents; then they are inserted in the new one. When there
 * are too many for one commit, only the record moves and a sweep moves its descendants. Until the sweep has moved a descendant, the
 * rules use the location of the moved record for it (`currentLocation` in `permissions.ts`).
 */
export function moveRow(
  state: DecisionState,
  unit: Unit,
  { before, after, changed }: { before: Row; after: Row; changed: readonly string[] },
): Effect[] {
  const { model, id: rootId, workspaceId } = before;
  const [extent] = state.extents('move', model, [rootId]);
  const isWhole = extent === undefined || state.reserveCascade(extent);
  if (!isWhole)
    state.addSweep({ kind: 'move', model, rootId, workspaceId, userId: null, actorId: unit.principal.userId });
  const rows = (isWhole ? lockDescendants(state, before) : [before]).filter(({ groupId }) => groupId !== after.groupId);
  const deletions = rows.flatMap((row) =>
    groupsOf(state, row)
      .toReversed()
      .map((groupId) => effectOf(row, 'DELETE', { groupId, data: '{}' })),
  );
  state.put(after);
  const insertions = groupsOf(state, after).map((groupId) => effectOf(after, 'INSERT', { groupId, changed }));
  const moved = rows
    .toReversed()
    .filter((row) => row !== before)
    .map((child): Row => ({ ...child, groupId: after.groupId }));
  for (const child of moved) state.put(child);
  return [
    ...deletions,
    ...insertions,
    ...ensureMembers(state, unit, after),
    ...moved.flatMap((child) => groupsOf(state, child).map((groupId) => effectOf(child, 'INSERT', { groupId }))),
  ];
}

/** The groups that get an entry of this record, the person's own last. */
function groupsOf(state: DecisionState, row: Row): string[] {
  if (row.model === User) return [...state.audiences(row.id).live].filter((group) => group !== row.id).concat(row.id);
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
function showPerson(state: DecisionState, row: Row): Effect[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { userId } = row.record;
  const { live, frozen } = state.audiences(userId);
  if (live.has(row.groupId)) return [];
  const person = state.row(User, userId, 'refer');
  if (!person) return [];
  state.joinAudience(userId, row.groupId);
  if (!frozen.has(row.groupId)) return [effectOf(person, 'INSERT', { groupId: row.groupId })];
  const { id: _id, createdAt: _createdAt, ...data } = person.record;
  const changed = Object.keys(User.fields);
  return [effectOf(person, 'UPDATE', { groupId: row.groupId, data: JSON.stringify(data), changed })];
}

/**
 * A workspace keeps what it sees of a person who leaves, without the e-mail address. A reader who is in another workspace of the
 * person gets the address back with the entries that follow. These are left out when the person is in more workspaces than a
 * commit may change, because it must be possible to remove any member. See infra/decisions/0004-who-sees-people.md. Keeps
 * sync.people.frozen and sync.mutate.always.
 */
function freezePerson(state: DecisionState, row: Row): Effect[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { groupId } = row;
  const { userId } = row.record;
  if (!state.audiences(userId).live.has(groupId)) return [];
  const person = state.row(User, userId, 'refer');
  if (!person) return [];
  const frozen = { ...person.record, email: null };
  const text = JSON.stringify(frozen);
  state.freezeAudience(userId, groupId, text);
  if (person.record.email === null) return [];
  const changed = ['email'];
  const data = changedData(frozen, changed);
  const restored = changedData(person.record, changed);
  const others = groupsOf(state, person);
  const reached = others.length > state.bounds.recordsMax ? [person.id] : others;
  return [
    effectOf({ ...person, record: frozen, text }, 'UPDATE', { groupId, data, changed }),
    ...reached.map((other) => effectOf(person, 'UPDATE', { groupId: other, data: restored, changed })),
  ];
}

/**
 * The creator and the lead of a private project, and the person who makes it private, are its members as long as they are in the
 * workspace. So no other person can hide the project from them. A service is not a person and becomes no member. Keeps
 * sync.private-project.keepers.
 */
export function ensureMembers(state: DecisionState, unit: Unit, project: Row): Effect[] {
  if (!isOf(project, Project) || project.groupId !== project.id) return [];
  const { creatorId, leadId } = project.record;
  const people = new Set([unit.principal.userId, creatorId, leadId].filter((id) => id !== null));
  return [...people].flatMap((userId) => ensureMember(state, project, userId));
}

function ensureMember(state: DecisionState, project: Row, userId: string): Effect[] {
  if (roleIn(state, project.workspaceId ?? '', userId, 'refer') === null) return [];
  const [member] = state.related(
    { model: ProjectMember, field: 'projectId', value: project.id, and: { field: 'userId', value: userId } },
    'write',
  );
  if (member?.groupId === project.id) return [];
  if (member) {
    const deletion = effectOf(member, 'DELETE', { data: '{}' });
    const row = { ...member, groupId: project.id };
    state.put(row);
    return [deletion, ...groupsOf(state, row).map((groupId) => effectOf(row, 'INSERT', { groupId }))];
  }
  const record = buildRecord(
    ProjectMember,
    randomUUID(),
    { projectId: project.id, userId },
    { createdAt: state.now, updatedAt: state.now },
  );
  const row: Row = {
    model: ProjectMember,
    id: record.id,
    workspaceId: project.workspaceId,
    groupId: project.id,
    record,
    text: JSON.stringify(record),
  };
  state.put(row);
  return groupsOf(state, row).map((groupId) => effectOf(row, 'INSERT', { groupId }));
}

export function effectOf(
  row: Row,
  action: ActionName,
  more: { groupId?: string; data?: string; changed?: readonly string[]; completes?: boolean } = {},
): Effect {
  const { groupId = row.groupId, data = null, changed = [], completes = false } = more;
  // A person has no workspace; the entry for the group of a workspace belongs to that workspace.
  const workspaceId = row.model === User && groupId !== row.id ? groupId : row.workspaceId;
  return {
    model: row.model,
    id: row.id,
    action,
    groupId,
    workspaceId,
    record: row.record,
    text: row.text,
    data,
    changed,
    completes,
  };
}

/** The data of an UPDATE. Keeps sync.action.update-changed-only: the changed fields and `updatedAt`. */
function changedData(record: RecordOf<Model>, changed: readonly string[]): string {
  const data: Record<string, unknown> = {};
  for (const name of changed) data[name] = record[name];
  data['updatedAt'] = record.updatedAt;
  return JSON.stringify(data);
}
