import { groupList } from '@wts/log';
import type { Model } from '@wts/models';
import { ownGroupsSql, visibleSelections, type GroupsWithGains, type ViewerSql } from '@wts/read-model';

/** Who reads: the groups they are in, and the workspace that their credential is limited to. */
export interface Reader {
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly person: GroupsWithGains;
  /** True: each statement has the groups of its own snapshot, and those of `person` may be old. */
  readonly isLive: boolean;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** True when the best plan depends on the values, so that PostgreSQL may plan it for each request. */
  readonly isPlannedByValues: boolean;
  /** True when it returns a text that is sent as it is, so that this process does not parse it. */
  readonly isText?: boolean;
}

/** With more groups, statements look them up in a hash table instead of a list. */
const GROUPS_FEW = 64;

export function hasFewGroups({ groups }: GroupsWithGains): boolean {
  return groups.size <= GROUPS_FEW;
}

/**
 * Collects the parameters of one statement, which begin with those of its reader. Everything that differs by caller is a parameter, so
 * that PostgreSQL plans a statement once for all callers. Each statement selects by `viewer`: keeps graphql.reads.visible.
 */
export class StatementWriter {
  readonly reader: Reader;
  /** For the predicates of `@wts/read-model`. */
  readonly viewer: ViewerSql & { readonly person: NonNullable<ViewerSql['person']> };
  readonly hasFewGroups: boolean;
  /** The groups of the reader as an array. */
  readonly groupArray: string;
  /** Set by a condition for which the best plan depends on its values, such as a range that may have one record or all. */
  isPlannedByValues = false;
  isText = false;
  readonly #values: unknown[] = [];
  /** Before the statement: the groups in its snapshot, or the parameters of the reader, whose types PostgreSQL must know. */
  readonly #with: string;

  constructor(reader: Reader) {
    this.reader = reader;
    this.hasFewGroups = hasFewGroups(reader.person);
    const workspaceId = reader.workspaceId === null ? null : this.add(reader.workspaceId, 'uuid');
    const person = { userId: this.add(reader.userId, 'uuid'), workspaceId };
    if (reader.isLive) {
      this.groupArray = '(select ids from own_groups)::uuid[]';
      const own = this.#ownGroups(person, []);
      this.#with = `own_groups as materialized (select array(select ${person.userId} union all ${own}) as ids)`;
    } else {
      this.groupArray = this.add(groupList(reader.person.groups), 'uuid[]');
      this.#with = `reader as (select ${[person.userId, workspaceId ?? 'null', this.groupArray].join(', ')})`;
    }
    this.viewer = { groups: this.hasFewGroups ? this.groupArray : `select unnest(${this.groupArray})`, person };
  }

  /** The condition that the reader sees a record as it is now; a person who left all their workspaces is found by id only. */
  sees(model: Model): string {
    return visibleSelections(model, this.viewer)[0]?.where ?? 'false';
  }

  /**
   * A query of the groups of the reader; with workspaces, only of those that can have records of them: the workspaces and their
   * private projects.
   */
  groupsIn(workspaceIds: readonly string[] | null): string {
    if (workspaceIds === null) return `select unnest(${this.groupArray}) as id`;
    const list = this.add(workspaceIds, 'uuid[]');
    if (this.reader.isLive)
      return `select workspace_id as id from (${this.#ownGroups(this.viewer.person, [list])}) own_group`;
    return `select own_group.id from unnest(${this.groupArray}) own_group(id) where own_group.id = any(${list})
      or (select home.workspace_id from sync.projects home where home.id = own_group.id) = any(${list})`;
  }

  /** The parameter with this value. */
  add(value: unknown, type: string): string {
    return `$${this.#values.push(value)}::${type}`;
  }

  finish(text: string): Statement {
    return {
      text: `with ${this.#with} select answer.found from (${text}) answer`,
      values: this.#values,
      isPlannedByValues: this.isPlannedByValues,
      isText: this.isText,
    };
  }

  #ownGroups({ userId, workspaceId }: NonNullable<ViewerSql['person']>, within: readonly string[]): string {
    return ownGroupsSql(userId, workspaceId === null ? within : [`array[${workspaceId}]`, ...within]);
  }
}
