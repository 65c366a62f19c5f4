import { ownGroupsSql, type GroupsWithGains, type ViewerSql } from '@wts/read-model';

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
 * Collects the parameters of one statement. Everything that differs by caller is a parameter, so that PostgreSQL plans a statement
 * once for all callers. Each statement selects by `viewer`: keeps graphql.reads.visible.
 */
export class StatementWriter {
  readonly reader: Reader;
  /** For the predicates of `@wts/read-model`; a part becomes a parameter when it is used. */
  readonly viewer: ViewerSql & { readonly person: NonNullable<ViewerSql['person']> };
  readonly hasFewGroups: boolean;
  /** Set by a condition for which the best plan depends on its values, such as a range that may have one record or all. */
  isPlannedByValues = false;
  isText = false;
  readonly #values: unknown[] = [];
  #groups: string | undefined;

  constructor(reader: Reader) {
    this.reader = reader;
    this.hasFewGroups = hasFewGroups(reader.person);
    const { userId, workspaceId } = reader;
    const add = (id: string): string => this.add(id, 'uuid');
    const groups = (): string => (this.hasFewGroups ? this.groupArray : `select unnest(${this.groupArray})`);
    const once = (id: string): (() => string) => {
      let added: string | undefined;
      return () => (added ??= add(id));
    };
    const user = once(userId);
    const workspace = workspaceId === null ? null : once(workspaceId);
    this.viewer = {
      get groups() {
        return groups();
      },
      person: {
        get userId() {
          return user();
        },
        get workspaceId() {
          return workspace === null ? null : workspace();
        },
      },
    };
  }

  /** The groups of the reader as an array. */
  get groupArray(): string {
    if (!this.reader.isLive) return (this.#groups ??= this.add(listOf(this.reader.person.groups), 'uuid[]'));
    this.#groups ??= `select array(select ${this.viewer.person.userId} union all ${this.#ownGroups([])}) as ids`;
    return '(select ids from own_groups)::uuid[]';
  }

  /**
   * A query of the groups of the reader; with workspaces, only of those that can have records of them: the workspaces and their
   * private projects.
   */
  groupsIn(workspaceIds: readonly string[] | null): string {
    if (workspaceIds === null) return `select unnest(${this.groupArray}) as id`;
    const list = this.add(workspaceIds, 'uuid[]');
    if (this.reader.isLive) return `select workspace_id as id from (${this.#ownGroups([list])}) own_group`;
    return `select own_group.id from unnest(${this.groupArray}) own_group(id) where own_group.id = any(${list})
      or (select home.workspace_id from sync.projects home where home.id = own_group.id) = any(${list})`;
  }

  /** The parameter with this value. */
  add(value: unknown, type: string): string {
    return `$${this.#values.push(value)}::${type}`;
  }

  finish(text: string): Statement {
    const isOwn = this.reader.isLive && this.#groups !== undefined;
    return {
      text: isOwn
        ? `with own_groups as materialized (${this.#groups}) select answer.found from (${text}) answer`
        : text,
      values: this.#values,
      isPlannedByValues: this.isPlannedByValues,
      isText: this.isText,
    };
  }

  #ownGroups(within: readonly string[]): string {
    const { userId, workspaceId } = this.viewer.person;
    return ownGroupsSql(userId, workspaceId === null ? within : [`array[${workspaceId}]`, ...within]);
  }
}

/** Lists of tens of thousands of groups are written once for each set. */
const lists = new WeakMap<ReadonlySet<string>, string>();

function listOf(groups: ReadonlySet<string>): string {
  const cached = lists.get(groups);
  if (cached !== undefined) return cached;
  const list = `{${[...groups].join(',')}}`;
  lists.set(groups, list);
  return list;
}
