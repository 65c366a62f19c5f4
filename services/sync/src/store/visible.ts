import { snakeCase, type Model } from '@wts/models';
import { uuidList } from './literal.ts';

/**
 * For whom records are read. `person` is set where the person's own group is asked for and what it holds is not wholly
 * part of the other groups; two people with equal audiences see the same records.
 */
export interface Audience {
  readonly groups: readonly string[];
  readonly person: { readonly userId: string; readonly workspaceId: string | null } | null;
}

/**
 * The one predicate of who may read a record. It lets through exactly the records whose log entries go to these groups
 * (`commit/effects.ts`), because otherwise a snapshot and the deltas after it would not add up. Rests on the index
 * (group_id, id) of every table. Keeps sync.bootstrap.own-groups and sync.bootstrap.archived: what is archived is a row
 * like others.
 */
export function visibleSql(model: Model, { groups, person }: Audience): string {
  const list = `array[${uuidList(groups)}]::uuid[]`;
  const { audience } = model;
  if (audience.kind === 'person') {
    return `id in (select user_id from sync.user_audiences where group_id = any(${list}))`;
  }
  const inGroups = `group_id = any(${list})`;
  if (audience.kind !== 'membership' || person === null) return inGroups;
  // A membership that opens a group is also told to its person, in their own group.
  const inside = person.workspaceId === null ? '' : ` and workspace_id = '${person.workspaceId}'`;
  return `(${inGroups} or (user_id = '${person.userId}' and group_id = ${snakeCase(audience.field)}${inside}))`;
}
