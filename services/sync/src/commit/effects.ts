import { randomUUID } from 'node:crypto';
import type { ActionName } from '@wts/contracts';
import {
  buildRecord,
  isOf,
  Project,
  ProjectMember,
  User,
  WorkspaceMember,
  type Model,
  type RecordOf,
} from '@wts/models';
import type { Row } from '../store/rows.ts';
import { descend } from './family.ts';
import { roleIn } from './permit.ts';
import type { Effect, Unit } from './unit.ts';
import type { World } from './world.ts';

/*
 * Keeps sync.action.group.
 * From a changed record to the entries of the log. Each entry belongs to exactly one group; where a change concerns
 * several, it is several adjacent entries:
 * - a person: their own group and each workspace that sees them;
 * - a membership that opens a group: that group and the person's own. The person hears of a gain after the others and of
 *   a loss before them, so they hear of each once;
 * - a record that moves between a workspace and a private project: it goes in one, and comes in the other.
 */

/** A record comes into being. */
export function arrive(world: World, unit: Unit, row: Row, now: string): Effect[] {
  world.put(row);
  const effects = [...introduce(world, row), ...copies(world, row).map((groupId) => entry(row, 'INSERT', { groupId }))];
  if (row.model === User) world.joinAudience(row.id, row.id);
  return [...effects, ...ensureMembers(world, unit, row, now)];
}

/** A record changes where it is. Keeps sync.action.update-changed-only: the entry shows what differs, and when. */
export function change(world: World, before: Row, after: Row, changed: readonly string[]): Effect[] {
  world.put(after);
  const data = changedData(after.record, changed);
  return copies(world, before).map((groupId) => entry(after, 'UPDATE', { groupId, data, changed }));
}

/** A record is deleted. */
export function deleteRow(world: World, row: Row): Effect[] {
  const groups = copies(world, row).toReversed();
  world.remove(row);
  return [...groups.map((groupId) => entry(row, 'DELETE', { groupId, data: '{}' })), ...freeze(world, row)];
}

/**
 * A record changes hands: a task into or out of a private project, or a project that becomes private or public. All that
 * is inside goes with it. First everything leaves the old group, parts before wholes; then it comes into the new one. Where
 * that is more than a commit should hold, the record goes alone, and what is inside is swept behind it: from then on it is
 * judged by where the record stands (`standing` in `permit.ts`).
 */
export function move(
  world: World,
  unit: Unit,
  { before, after, changed }: { before: Row; after: Row; changed: readonly string[] },
  now: string,
): Effect[] {
  const { model, id: rootId, workspaceId } = before;
  const [extent] = world.extents('move', model, [rootId]);
  const isWhole = extent === undefined || world.carries(extent);
  if (!isWhole) world.sweep({ kind: 'move', model, rootId, workspaceId, userId: null, actorId: unit.principal.userId });
  const going = (isWhole ? descend(world, before) : [before]).filter(({ groupId }) => groupId !== after.groupId);
  const leaving = going.flatMap((row) =>
    copies(world, row)
      .toReversed()
      .map((groupId) => entry(row, 'DELETE', { groupId, data: '{}' })),
  );
  world.put(after);
  const arriving = copies(world, after).map((groupId) => entry(after, 'INSERT', { groupId, changed }));
  const moved = going
    .toReversed()
    .filter((row) => row !== before)
    .map((part): Row => ({ ...part, groupId: after.groupId }));
  for (const part of moved) world.put(part);
  return [
    ...leaving,
    ...arriving,
    ...ensureMembers(world, unit, after, now),
    ...moved.flatMap((part) => copies(world, part).map((groupId) => entry(part, 'INSERT', { groupId }))),
  ];
}

/** The groups that get an entry of this record, the person's own last. */
function copies(world: World, row: Row): string[] {
  if (row.model === User) return [...world.audience(row.id).live].filter((group) => group !== row.id).concat(row.id);
  const person = personLetIn(row);
  return person === null ? [row.groupId] : [row.groupId, person];
}

/** Who sees the row's group by it: the person of a membership of a workspace or of a private project. */
function personLetIn(row: Row): string | null {
  if (isOf(row, WorkspaceMember)) return row.record.userId;
  return isOf(row, ProjectMember) && row.groupId === row.record.projectId ? row.record.userId : null;
}

/**
 * Before a new member is announced, the others get to know the person. Who was there before is known as they were when they
 * left: the whole record follows, because a reader may know them from another workspace that they left at another time.
 */
function introduce(world: World, row: Row): Effect[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { userId } = row.record;
  const { live, frozen } = world.audience(userId);
  if (live.has(row.groupId)) return [];
  const person = world.row(User, userId, 'refer');
  if (!person) return [];
  world.joinAudience(userId, row.groupId);
  if (!frozen.has(row.groupId)) return [entry(person, 'INSERT', { groupId: row.groupId })];
  const { id: _id, createdAt: _createdAt, ...data } = person.record;
  const changed = Object.keys(User.fields);
  return [entry(person, 'UPDATE', { groupId: row.groupId, data: JSON.stringify(data), changed })];
}

/**
 * What a workspace knows of a person freezes when they leave, without their address. Whoever reads another workspace of theirs
 * as well finds there, right behind, what the address is; not where the person is in more workspaces than a commit takes along,
 * because a member must always be removable. See infra/decisions/0004-who-sees-people.md. Keeps sync.people.frozen and
 * sync.mutate.always.
 */
function freeze(world: World, row: Row): Effect[] {
  if (!isOf(row, WorkspaceMember)) return [];
  const { groupId } = row;
  const { userId } = row.record;
  if (!world.audience(userId).live.has(groupId)) return [];
  const person = world.row(User, userId, 'refer');
  if (!person) return [];
  const left = { ...person.record, email: null };
  const text = JSON.stringify(left);
  world.freezeAudience(userId, groupId, text);
  if (person.record.email === null) return [];
  const changed = ['email'];
  const data = JSON.stringify({ email: null });
  const again = JSON.stringify({ email: person.record.email });
  const others = copies(world, person);
  const reached = others.length > world.bounds.recordsMax ? [person.id] : others;
  return [
    entry({ ...person, record: left, text }, 'UPDATE', { groupId, data, changed }),
    ...reached.map((other) => entry(person, 'UPDATE', { groupId: other, data: again, changed })),
  ];
}

/**
 * Who made a private project, who leads it and who makes it private are inside, as long as they are in the workspace; a
 * service is no person and is not. So nobody shuts them out by hiding the project. Keeps sync.private-project.keepers.
 */
export function ensureMembers(world: World, unit: Unit, project: Row, now: string): Effect[] {
  if (!isOf(project, Project) || project.groupId !== project.id) return [];
  const { creatorId, leadId } = project.record;
  const people = new Set([unit.principal.userId, creatorId, leadId].filter((id) => id !== null));
  return [...people].flatMap((userId) => ensureMember(world, project, userId, now));
}

function ensureMember(world: World, project: Row, userId: string, now: string): Effect[] {
  if (roleIn(world, project.workspaceId ?? '', userId, 'refer') === null) return [];
  const [member] = world.relatedBy(
    { model: ProjectMember, field: 'projectId', value: project.id, and: { field: 'userId', value: userId } },
    'write',
  );
  if (member?.groupId === project.id) return [];
  if (member) {
    const gone = entry(member, 'DELETE', { data: '{}' });
    const row = { ...member, groupId: project.id };
    world.put(row);
    return [gone, ...copies(world, row).map((groupId) => entry(row, 'INSERT', { groupId }))];
  }
  const record = buildRecord(
    ProjectMember,
    randomUUID(),
    { projectId: project.id, userId },
    { createdAt: now, updatedAt: now },
  );
  const row: Row = {
    model: ProjectMember,
    id: record.id,
    workspaceId: project.workspaceId,
    groupId: project.id,
    record,
    text: JSON.stringify(record),
  };
  world.put(row);
  return copies(world, row).map((groupId) => entry(row, 'INSERT', { groupId }));
}

export function entry(
  row: Row,
  action: ActionName,
  more: { groupId?: string; data?: string; changed?: readonly string[] } = {},
): Effect {
  const { groupId = row.groupId, data = null, changed = [] } = more;
  // A person lives in no workspace; the copy that a workspace hears belongs to that one.
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
  };
}

function changedData(record: RecordOf<Model>, changed: readonly string[]): string {
  const data: Record<string, unknown> = {};
  for (const name of changed) data[name] = record[name];
  data['updatedAt'] = record.updatedAt;
  return JSON.stringify(data);
}
