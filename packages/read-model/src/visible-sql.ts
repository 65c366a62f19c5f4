import { snakeCase, type Model } from '@wts/models';

/** Which records of a model. */
export interface Selection {
  readonly model: Model;
  /** What has its columns `id` and `record`; the model's table unless something else is named. */
  readonly from?: string;
  /** SQL over that. */
  readonly where: string;
}

/**
 * For whom records are read. `person` is set where the person's own group is asked for and what it holds is not wholly
 * part of the other groups; two people with equal viewers see the same records.
 */
export interface Viewer {
  readonly groups: readonly string[];
  readonly person: { readonly userId: string; readonly workspaceId: string | null } | null;
}

const LIVE = 'select user_id from sync.user_audiences where group_id =';
const FROZEN = 'select user_id from sync.frozen_people where group_id =';

/**
 * The records of a model that these groups see. A person whom one of them sees as they are is shown so; the others as they were
 * when they left, the last time. `all` is what the reader follows beside what is asked for: who is seen by one of these
 * is shown as they are as well, because the reader would otherwise go on with an old copy. Keeps sync.people.frozen.
 */
export function visibleSelections(model: Model, viewer: Viewer, all = viewer.groups): Selection[] {
  const where = visibleSql(model, viewer);
  if (model.audience.kind !== 'person') return [{ model, where }];
  const [groups, every] = [viewer.groups, all].map((ids) => `array[${uuidList(ids)}]::uuid[]`);
  const latest = `(select distinct on (user_id) user_id as id, record from sync.frozen_people
    where group_id = any(${groups}) order by user_id, frozen_at desc) frozen`;
  const isShared = `id in (${LIVE} any(${every}))`;
  return [
    { model, where: all === viewer.groups ? isShared : `${isShared} and ${where}` },
    { model, from: latest, where: `not (${isShared})` },
  ];
}

/**
 * The one predicate of who may read a record. It lets through exactly the records whose log entries go to these groups
 * (`services/sync/src/commit/effects.ts`), because otherwise a snapshot and the deltas after it would not add up. Rests on the index
 * (group_id, id) of every table. Keeps sync.bootstrap.own-groups and sync.bootstrap.archived: what is archived is a row
 * like others.
 */
export function visibleSql(model: Model, { groups, person }: Viewer): string {
  const list = `array[${uuidList(groups)}]::uuid[]`;
  const { audience } = model;
  if (audience.kind === 'person') return `(id in (${LIVE} any(${list})) or id in (${FROZEN} any(${list})))`;
  const inGroups = `group_id = any(${list})`;
  if (audience.kind !== 'membership' || person === null) return inGroups;
  // A membership that opens a group is also told to its person, in their own group. It opens none without the workspace.
  const inside = person.workspaceId === null ? '' : ` and workspace_id = '${person.workspaceId}'`;
  const held = ` and workspace_id in (select own.workspace_id from sync.workspace_members own where own.user_id = '${person.userId}')`;
  return `(${inGroups} or (user_id = '${person.userId}' and group_id = ${snakeCase(audience.field)}${inside}${held}))`;
}

/** Only for values whose shape was checked as a UUID. */
export function uuidList(ids: Iterable<string>): string {
  return [...ids].map((id) => `'${id}'`).join(',');
}
