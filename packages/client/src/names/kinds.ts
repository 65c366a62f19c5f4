import { NAME_LIMITS } from './limits.ts';

/** Runs a document of GraphQL for one caller, and returns its data. */
export type RunGraphql = <Data>(query: string, variables: Readonly<Record<string, unknown>>) => Promise<Data>;

/** What a word may mean. */
export interface Candidate {
  readonly id: string;
  /** Everything that it is called. */
  readonly names: readonly string[];
  /** For the texts of errors. */
  readonly shown: string;
}

export interface Kind {
  readonly noun: string;
  readonly byIds: (ids: readonly string[]) => object;
  /** Conditions, of which one must hold. */
  readonly byName: (word: string) => readonly object[];
  readonly find: (run: RunGraphql, filter: object) => Promise<Candidates>;
}

export interface Candidates {
  readonly all: readonly Candidate[];
  /** True: there are more than were read. */
  readonly isPart: boolean;
}

interface NamesPage {
  readonly found: { readonly nodes: readonly unknown[]; readonly pageInfo: { readonly hasNextPage: boolean } };
}

/** Reads a page: `list` is the field, `type` that of its filter, `fields` those of a record. */
function found(
  [list, type, fields]: readonly [list: string, type: string, fields: string],
  read: (node: never) => Candidate,
): Kind['find'] {
  const query = `query ${type}Names($filter: ${type}Filter!) {
  found: ${list}(first: ${NAME_LIMITS.readMax}, filter: $filter) { nodes { ${fields} } pageInfo { hasNextPage } }
}`;
  return async (run, filter) => {
    const { nodes, pageInfo } = (await run<NamesPage>(query, { filter })).found;
    return { all: nodes.map(read as (node: unknown) => Candidate), isPart: pageInfo.hasNextPage };
  };
}

interface Keyed {
  readonly id: string;
  readonly key: string;
  readonly name: string;
}

interface LabelNode {
  readonly id: string;
  readonly name: string;
  readonly team: { readonly key: string } | null;
}

interface MemberNode {
  readonly userId: string;
  readonly user: { readonly name: string; readonly email: string | null; readonly username: string | null } | null;
}

const same = (word: string): { eqIgnoreCase: string } => ({ eqIgnoreCase: word });

const byIds = (ids: readonly string[]): object => ({ id: { in: ids } });
const byNameAndKey = (word: string): object[] => [{ name: same(word) }, { key: same(word) }];

function keyed({ id, key, name }: Keyed): Candidate {
  return { id, names: [name, key], shown: `${JSON.stringify(name)} (${key})` };
}

/** The kinds of records that words name, besides workspaces and tasks. */
export const KINDS = {
  project: { noun: 'project', byIds, byName: byNameAndKey, find: found(['projects', 'Project', 'id key name'], keyed) },
  team: { noun: 'team', byIds, byName: byNameAndKey, find: found(['teams', 'Team', 'id key name'], keyed) },
  label: {
    noun: 'label',
    byIds,
    byName: (word) => [{ name: same(word) }],
    find: found(['labels', 'Label', 'id name team { key }'], ({ id, name, team }: LabelNode) => ({
      id,
      names: [name],
      shown: `${JSON.stringify(name)}${team === null ? '' : ` (team ${team.key})`}`,
    })),
  },
  person: {
    noun: 'member',
    byIds: (ids) => ({ userId: { in: ids } }),
    byName: (word) => [{ user: { or: [{ name: same(word) }, { email: same(word) }, { username: same(word) }] } }],
    find: found(
      ['members', 'WorkspaceMember', 'userId user { name email username }'],
      ({ userId, user }: MemberNode) => ({
        id: userId,
        names: [user?.name, user?.email, user?.username].filter((name) => typeof name === 'string'),
        shown: `${JSON.stringify(user?.name ?? '')}${user?.email ? ` <${user.email}>` : ''}`,
      }),
    ),
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;
