import { snakeCase, type Model } from '@wts/models';
import { homesSql } from './memberships.ts';

/** Which records of a model. */
export interface Selection {
  readonly model: Model;
  /** SQL with the columns `id` and `record`; by default the model's table. */
  readonly from?: string;
  /** SQL over that. */
  readonly where: string;
}

/**
 * Decides which records are read: two people with equal viewers see the same records. `person` is set where the person's own
 * group is requested and has records that the other groups do not have.
 */
export interface Viewer {
  readonly groups: readonly string[];
  readonly person: { readonly userId: string; readonly workspaceId: string | null } | null;
}

/** A viewer as SQL: literals, or parameters of a prepared statement. */
export interface ViewerSql {
  /** An array of uuid, or a query of them. */
  readonly groups: string;
  readonly person: { readonly userId: string; readonly workspaceId: string | null } | null;
}

const LIVE = 'select user_id from sync.user_audiences where group_id =';
const FROZEN = 'select user_id from sync.frozen_people where group_id =';

/**
 * The records of a model that these groups see. A person who is in one of the groups is shown as they are now, a person who left
 * them as they were when they last left. `all` is all groups of the reader: a person who is in one of these is shown as they are
 * now too, because otherwise the reader would keep an old copy. Keeps sync.people.frozen.
 */
export function visibleSelections(
  model: Model,
  viewer: Viewer | ViewerSql,
  all: Viewer['groups'] | ViewerSql['groups'] = viewer.groups,
): Selection[] {
  const where = visibleSql(model, viewer);
  if (model.audience.kind !== 'person') return [{ model, where }];
  const [groups, every] = [viewer.groups, all].map(groupsSql);
  const latest = `(select distinct on (user_id) user_id as id, record from sync.frozen_people
    where group_id = any(${groups}) order by user_id, frozen_at desc) frozen`;
  const isShared = `id in (${LIVE} any(${every}))`;
  return [
    { model, where: all === viewer.groups ? isShared : `${isShared} and ${where}` },
    { model, from: latest, where: `not (${isShared})` },
  ];
}

/**
 * The one predicate for reading records. It selects exactly the records whose log entries go to these groups
 * (`services/sync/src/rules/effects.ts`), because otherwise a snapshot and the deltas after it would not match. Relies on the
 * index of every table that begins with the group. Keeps sync.bootstrap.own-groups and sync.bootstrap.archived: an archived record is a row
 * like others.
 */
export function visibleSql(model: Model, viewer: Viewer | ViewerSql): string {
  const list = groupsSql(viewer.groups);
  const person = personSql(viewer);
  const { audience } = model;
  if (audience.kind === 'person') return `(id in (${LIVE} any(${list})) or id in (${FROZEN} any(${list})))`;
  const inGroups = `group_id = any(${list})`;
  if (audience.kind !== 'membership' || person === null) return inGroups;
  // A membership also goes to its person's own group, as long as the person is in the workspace.
  const inWorkspace = person.workspaceId === null ? '' : ` and workspace_id = ${person.workspaceId}`;
  const isMember = ` and workspace_id in (${homesSql(`user_id = ${person.userId}`)})`;
  return `(${inGroups} or (user_id = ${person.userId} and group_id = ${snakeCase(audience.field)}${inWorkspace}${isMember}))`;
}

/**
 * The same predicate for one group, of which a page is read in the order of an index that begins with the group. Null where the
 * predicate is not of the group alone. `group` is SQL.
 */
export function visibleToGroupSql({ audience: { kind } }: Model, group: string): string | null {
  return kind === 'person' || kind === 'membership' ? null : `group_id = ${group}`;
}

function groupsSql(groups: Viewer['groups'] | ViewerSql['groups']): string {
  return typeof groups === 'string' ? groups : `array[${uuidList(groups)}]::uuid[]`;
}

function personSql({ groups, person }: Viewer | ViewerSql): ViewerSql['person'] {
  if (person === null || typeof groups === 'string') return person;
  const { userId, workspaceId } = person;
  return { userId: `'${userId}'`, workspaceId: workspaceId === null ? null : `'${workspaceId}'` };
}

/** The values must have been checked to be UUIDs. */
export function uuidList(ids: Iterable<string>): string {
  return [...ids].map((id) => `'${id}'`).join(',');
}
