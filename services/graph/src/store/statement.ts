import { groupsStateSql, type GroupsWithGains, type ViewerSql } from '@wts/read-model';

/** Who reads: the groups they are in, and the workspace that their credential is limited to. */
export interface Reader {
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly person: GroupsWithGains;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** True when the best plan depends on the values, so that PostgreSQL may plan it for each request. */
  readonly isPlannedByValues: boolean;
}

/** With more groups, statements look them up in a hash table instead of a list. */
const GROUPS_FEW = 64;

/** Lists of tens of thousands of groups are written once for each set. */
const lists = new WeakMap<ReadonlySet<string>, string>();

/**
 * Collects the parameters of one statement. Everything that differs by caller is a parameter, so that PostgreSQL plans a statement
 * once for all callers. Each statement selects by `viewer`: keeps graphql.reads.visible.
 */
export class StatementWriter {
  readonly reader: Reader;
  /** For the predicates of `@wts/read-model`; a part becomes a parameter when it is used. */
  readonly viewer: ViewerSql;
  readonly hasFewGroups: boolean;
  /** Set by a condition for which the best plan depends on its values, such as a range that may have one record or all. */
  isPlannedByValues = false;
  readonly #values: unknown[] = [];
  #groups: string | undefined;

  constructor(reader: Reader) {
    this.reader = reader;
    this.hasFewGroups = reader.person.groups.size <= GROUPS_FEW;
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
    return (this.#groups ??= this.add(listOf(this.reader.person.groups), 'uuid[]'));
  }

  /** The parameter with this value. */
  add(value: unknown, type: string): string {
    return `$${this.#values.push(value)}::${type}`;
  }

  finish(text: string): Statement {
    return { text, values: this.#values, isPlannedByValues: this.isPlannedByValues };
  }
}

/** The statement with a column `state`: the gains and losses since the groups of its reader were read. */
export function withGroupsState(statement: Statement, sql: StatementWriter): Statement {
  const { text } = statement;
  const { userId, person } = sql.reader;
  const state = groupsStateSql(sql.add(userId, 'uuid'), sql.add(person.at.toString(), 'bigint'));
  return { ...statement, text: `select answer.found, ${state} as state from (${text}) answer` };
}

function listOf(groups: ReadonlySet<string>): string {
  const cached = lists.get(groups);
  if (cached !== undefined) return cached;
  const list = `{${[...groups].join(',')}}`;
  lists.set(groups, list);
  return list;
}
